import { readdirSync, readFileSync } from 'node:fs'

export type MarkedProcess = { readonly pid: number; readonly mark: string; readonly command: string }

/** Every live process that an attempt of a sprint below `folder` has started, in any process group. */
export const markedProcesses = (folder: string): MarkedProcess[] =>
  processes().flatMap((pid) => {
    const mark = /(?:^|\0)RALPH_ATTEMPT=([^\0]*)/.exec(readOrEmpty(pid, 'environ'))?.[1]
    if (!mark?.startsWith(`${folder}/`)) return []
    return [{ pid, mark, command: readOrEmpty(pid, 'cmdline').replaceAll('\0', ' ').trim() }]
  })

/** The command line of every process on this machine. */
export const commandLines = (): string[] =>
  processes().map((pid) => readOrEmpty(pid, 'cmdline').replaceAll('\0', ' ').trim())

export function kill(pid: number, signal: NodeJS.Signals = 'SIGKILL'): void {
  try {
    process.kill(pid, signal)
  } catch {
    // The process is gone.
  }
}

export function isRunning(pid: number): boolean {
  const state = /\) (\S)/.exec(readOrEmpty(pid, 'stat'))?.[1]
  return state !== undefined && state !== 'Z'
}

function processes(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 1)
}

function readOrEmpty(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1')
  } catch {
    return ''
  }
}
