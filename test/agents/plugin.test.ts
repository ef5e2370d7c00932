import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmod } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { ralphProgram, root } from '../support/paths.ts'
import { claude } from './real-agents.ts'
import { createRealSprint, installed } from './real-sprint.ts'
import * as scenario from './scenarios.ts'

const runsIt = { calls: [{ run: 'ralph run s --workflows wf --plain' }] }

it('runs /run-sprint as typed in the real Claude Code, after "ralph plugin install" (row 79)', async () => {
  const sprint = await createRealSprint(claude, [runsIt, scenario.claim, { text: 'The sprint is done.' }])
  expect(await sprint.ralph('plugin', 'install', '--yes')).toMatchObject({ exitCode: 0 })

  const { exitCode, stdout } = await startClaude(sprint, '-p', '/run-sprint s')

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'The sprint is done.\n' })
  expect(sprint.model.requests[0]?.text).toContain('Start it in the background with the Bash tool')
  expect((await sprint.progress()).status).toBe('completed')
})

it('has no short form without the installation', async () => {
  const sprint = await createRealSprint(claude, [{ text: 'unused' }])
  await startClaude(sprint, '-p', '/run-sprint s')

  const asked = sprint.model.requests.map(({ text: request }) => request).join('\n')
  expect(asked).toContain('/run-sprint')
  expect(asked).not.toContain('Start it in the background')
})

it('installs as a plugin from the marketplace of this repository', async () => {
  const sprint = await createRealSprint(claude, [runsIt, scenario.claim, { text: 'The sprint is done.' }])

  expect(await startClaude(sprint, 'plugin', 'marketplace', 'add', root)).toMatchObject({ exitCode: 0 })
  expect(await startClaude(sprint, 'plugin', 'install', 'ralph-mode@ralph-mode')).toMatchObject({ exitCode: 0 })
  const { exitCode } = await startClaude(sprint, '-p', '/ralph-mode:run-sprint s')

  expect({ exitCode, status: (await sprint.progress()).status }).toEqual({ exitCode: 0, status: 'completed' })
})

/** Starts the real program as a user would, with `ralph` on PATH. */
async function startClaude(sprint: Awaited<ReturnType<typeof createRealSprint>>, ...args: readonly string[]) {
  const folder = await installed('claude')
  await sprint.write('../path/ralph', `#!/bin/sh\nexec '${process.execPath}' '${ralphProgram}' "$@"\n`)
  await chmod(sprint.at('../path/ralph'), 0o755)
  const env = {
    PATH: [sprint.at('../path'), folder, dirname(process.execPath), '/usr/bin', '/bin'].join(':'),
    HOME: sprint.at('../home'),
    TMPDIR: sprint.at('../tmp'),
    IS_SANDBOX: '1',
    ...claude.env?.(sprint.model.url),
  }
  const child = spawn(join(folder, 'claude'), args, { cwd: sprint.at(), env, stdio: ['ignore', 'pipe', 'pipe'] })
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { exitCode: child.exitCode, stdout, stderr }
}
