import { errorMessage } from '../../contract/errors.ts'
import { inspectAgent, type Inspection } from '../../agents/supervise/inspect.ts'
import { diskSpace } from '../../platform/files/files.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { runWithTimeout } from '../../platform/processes/timed-run.ts'
import { pathOutside } from '../../platform/safe-path.ts'
import { createDiskPort } from '../../storage/sprint/disk.ts'
import { realDrivers } from './choose-agent.ts'
import { createInspector } from './inspector.ts'
import type { Io } from '../io/io.ts'
import { capabilityText } from '../../agents/cells/protection.ts'
import { detectSandbox } from './protection.ts'

/** One line about this machine. A finding here is never worse than a warning. */
export type MachineObservation = { readonly name: string; readonly ok: boolean; readonly text: string }

/** Older majors are end-of-life. */
const oldestSupported = 22

export async function examineMachine(folder: string, io: Io): Promise<MachineObservation[]> {
  const [git, agents, sandbox, disk] = await Promise.all([
    examineGit(folder, io),
    examineAgents(io),
    examineSandbox(io),
    examineDisk(folder),
  ])
  return [examineNode(process.versions.node), git, ...agents, sandbox, disk]
}

function examineNode(version: string): MachineObservation {
  const ok = Number(version.split('.')[0]) >= oldestSupported
  const old = `${version}: works, but is end-of-life; use ${oldestSupported} or newer`
  return { name: 'node', ok, text: ok ? version : old }
}

async function examineGit(folder: string, io: Io): Promise<MachineObservation> {
  const path = pathOutside(pathOutside(io.env['PATH'] ?? '', io.cwd), folder)
  const file = findProgram('git', path, '/')
  if (file === undefined) {
    return { name: 'git', ok: false, text: 'not found: no checkpoints, and progress is detected from file times only' }
  }
  const env = { PATH: path, LC_ALL: 'C' }
  const { stdout } = await runWithTimeout({ file, args: ['--version'], cwd: io.cwd, env, timeoutMs: 5000 })
  return { name: 'git', ok: true, text: stdout.replace('git version ', '').trim() || file }
}

async function examineAgents(io: Io): Promise<MachineObservation[]> {
  const inspections = await Promise.all(
    realDrivers().map((driver) => inspectAgent(driver, createInspector(driver, io))),
  )
  const found = inspections.filter(({ path }) => path !== undefined)
  if (found.length > 0) return found.map(describeInspection)
  const names = inspections.map(({ name }) => name).join(', ')
  return [{ name: 'agents', ok: false, text: `no agent program is on PATH; install one of ${names}` }]
}

function describeInspection({ name, version = 'unknown version', tested, login }: Inspection): MachineObservation {
  const doubts = [...(tested === false ? ['not tested with Ralph'] : []), ...(login === 'no' ? ['not logged in'] : [])]
  const known = login === 'yes' ? [version, 'logged in'] : [version]
  return { name, ok: doubts.length === 0, text: [...known, ...doubts].join(', ') }
}

async function examineSandbox(io: Io): Promise<MachineObservation> {
  const capability = await detectSandbox(io)
  return { name: 'sandbox', ok: capability.kind !== 'none', text: capabilityText(capability) }
}

async function examineDisk(folder: string): Promise<MachineObservation> {
  try {
    const { freeBytes } = await diskSpace(folder)
    const short = await createDiskPort(folder).shortage()
    return { name: 'disk', ok: short === undefined, text: short ?? `${(freeBytes / 1e9).toFixed(1)} GB free` }
  } catch (error) {
    return { name: 'disk', ok: false, text: errorMessage(error) }
  }
}
