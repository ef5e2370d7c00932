import { spawn } from 'node:child_process'
import { pathOutside } from '../safe-path.ts'
import { findProgram } from './programs.ts'
import { sendSignal } from './process-table.ts'

type KeepAwakeOptions = {
  readonly platform: NodeJS.Platform
  readonly path: string
  /** No program of this folder is started. */
  readonly project: string
  readonly pid: number
}

/**
 * Keeps the machine awake until the returned function is called or this process ends, no matter how. Best effort: a machine
 * that cannot be kept awake is not an error.
 */
export function keepAwake({ platform, path, project, pid }: KeepAwakeOptions): () => void {
  const [name, ...args] = keepAwakeCommand(platform, pid)
  const safePath = pathOutside(path, project)
  const file = name === undefined ? undefined : findProgram(name, safePath, '/')
  if (file === undefined) return () => {}
  const child = spawn(file, args, { detached: true, stdio: 'ignore', env: { PATH: safePath } })
  child.once('error', () => {})
  child.unref()
  return () => {
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
      sendSignal(-child.pid, 'SIGTERM')
  }
}

/** Each of these programs ends with the given process. */
function keepAwakeCommand(platform: NodeJS.Platform, pid: number): readonly string[] {
  if (platform === 'darwin') return ['caffeinate', '-i', '-w', String(pid)]
  if (platform !== 'linux') return []
  const about = ['--what=idle:sleep', '--mode=block', '--who=ralph', '--why=a sprint is running']
  return ['systemd-inhibit', ...about, 'tail', `--pid=${pid}`, '-f', '/dev/null']
}
