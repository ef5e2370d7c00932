import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { root } from '../support/paths.ts'
import { createTestSprint, type Setup } from '../support/sprint.ts'
import { startStubModel } from '../support/stub-model/server.ts'
import type { Turn } from '../support/stub-model/turn.ts'
import type { RealAgent } from './real-agents.ts'

export type RealSprint = Awaited<ReturnType<typeof createRealSprint>>

/** A sprint with a real agent program and a scripted model. */
export async function createRealSprint(
  agent: RealAgent,
  turns: readonly Turn[],
  setup: Pick<Setup, 'sprint' | 'env'> = {},
) {
  const folder = await installed(agent.installs)
  const model = await startStubModel(turns)
  onTestFinished(model.close)
  const config = stringify({ env: { pass: agent.pass ?? [] } })
  const home = Object.entries({ '.ralph/config.yaml': config, ...agent.home?.(model.url) })
  const sprint = await createTestSprint({
    sprint: { agent: agent.name, ...setup.sprint },
    files: Object.fromEntries(home.map(([name, content]) => [`../home/${name}`, content])),
    env: {
      PATH: [folder, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
      ...agent.env?.(model.url),
      ...setup.env,
    },
    timeoutMs: 200_000,
  })
  return { ...sprint, model }
}

const installing = new Map<string, Promise<string>>()

/** The folder for PATH. Rejects with the reason if it cannot be installed. */
export function installed(name: string): Promise<string> {
  const before = installing.get(name)
  if (before) return before
  const now = install(name)
  installing.set(name, now)
  return now
}

async function install(name: string): Promise<string> {
  const script = join(root, 'scripts/install-agents.mjs')
  const child = spawn(process.execPath, [script, name], { stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  if (child.exitCode !== 0) throw new Error(`${name} could not be installed, so it cannot be tested:\n${stderr}`)
  return stdout.trim()
}
