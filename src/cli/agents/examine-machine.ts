import { inspectAgent, type Inspection } from '../../agents/supervise/inspect.ts'
import { diskSpace } from '../../platform/files/files.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { runShortly } from '../../platform/processes/short-run.ts'
import { diskOf } from '../../storage/sprint/disk.ts'
import { realDrivers } from './choose-agent.ts'
import { inspectorFor } from './inspector.ts'
import type { Io } from '../io/io.ts'
import { capabilityText } from '../../agents/cells/protection.ts'
import { sandboxCapability } from './protection.ts'

/** What was found on this machine. Nothing of it is ever more than a warning. */
export type Observation = { readonly name: string; readonly ok: boolean; readonly text: string }

/** Older ones are past their end of life. */
const oldestSupported = 22

export async function examineMachine(folder: string, io: Io): Promise<Observation[]> {
  const [git, agents, sandbox, disk] = await Promise.all([gitOf(io), agentsOf(io), sandboxOf(io), diskIn(folder)])
  return [nodeOf(process.versions.node), git, ...agents, sandbox, disk]
}

function nodeOf(version: string): Observation {
  const ok = Number(version.split('.')[0]) >= oldestSupported
  const old = `${version}: works, but gets no more security updates from its makers; ${oldestSupported} or newer is better`
  return { name: 'node', ok, text: ok ? version : old }
}

async function gitOf(io: Io): Promise<Observation> {
  const file = findProgram('git', io.env['PATH'] ?? '', io.cwd)
  if (file === undefined) {
    return { name: 'git', ok: false, text: 'not found: no checkpoints, and progress is told from file times only' }
  }
  const env = { PATH: io.env['PATH'] ?? '', LC_ALL: 'C' }
  const { stdout } = await runShortly({ file, args: ['--version'], cwd: io.cwd, env, timeoutMs: 5000 })
  return { name: 'git', ok: true, text: stdout.replace('git version ', '').trim() || file }
}

async function agentsOf(io: Io): Promise<Observation[]> {
  const inspections = await Promise.all(realDrivers().map((driver) => inspectAgent(driver, inspectorFor(driver, io))))
  const found = inspections.filter(({ path }) => path !== undefined)
  if (found.length > 0) return found.map(observe)
  const names = inspections.map(({ name }) => name).join(', ')
  return [{ name: 'agents', ok: false, text: `none is on PATH; install one of ${names}` }]
}

function observe({ name, version = 'of an unknown version', tested, login }: Inspection): Observation {
  const doubts = [
    ...(tested === false ? ['not tested with Ralph'] : []),
    ...(login === 'no' ? ['nobody is logged in'] : []),
  ]
  const known = login === 'yes' ? [version, 'logged in'] : [version]
  return { name, ok: doubts.length === 0, text: [...known, ...doubts].join(', ') }
}

async function sandboxOf(io: Io): Promise<Observation> {
  const capability = await sandboxCapability(io)
  return { name: 'sandbox', ok: capability.kind !== 'none', text: capabilityText(capability) }
}

async function diskIn(folder: string): Promise<Observation> {
  try {
    const { freeBytes } = await diskSpace(folder)
    const short = await diskOf(folder).shortage()
    return { name: 'disk', ok: short === undefined, text: short ?? `${(freeBytes / 1e9).toFixed(1)} GB free` }
  } catch (error) {
    return { name: 'disk', ok: false, text: error instanceof Error ? error.message : String(error) }
  }
}
