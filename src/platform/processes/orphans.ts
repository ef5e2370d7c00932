import { readdirSync, readFileSync } from 'node:fs'
import { lazy } from '../lazy.ts'
import { findProgram } from './programs.ts'
import { sendSignal } from './process-table.ts'

type Start = { readonly file: string; readonly args: readonly string[] }

/** PR_SET_CHILD_SUBREAPER is kept across exec, so a program of two lines can set it for another one. */
const prctl: Readonly<Record<string, number>> = { x64: 157, arm64: 167 }

/**
 * The same program as the parent of all that its descendants leave behind: a process that clears its environment and starts a
 * session of its own stays findable. Node itself cannot ask the kernel for that; perl or python can. Without them the program
 * starts as it is, and only what carries the mark is found.
 */
export function adoptingOrphans(file: string, args: readonly string[]): Start {
  return findAdopter()?.(file, args) ?? { file, args }
}

const standardPath = '/usr/bin:/bin:/usr/local/bin'

const findAdopter = lazy((): typeof adoptingOrphans | undefined => {
  const number = process.platform === 'linux' ? prctl[process.arch] : undefined
  if (number === undefined) return undefined
  const perl = findProgram('perl', standardPath, '/')
  if (perl !== undefined) {
    const script = `syscall(${number},36,1,0,0,0);exec{$ARGV[0]}@ARGV;exit 127`
    return (file, args) => ({ file: perl, args: ['-e', script, file, ...args] })
  }
  const python = findProgram('python3', standardPath, '/')
  if (python === undefined) return undefined
  const script = 'import ctypes,os,sys;ctypes.CDLL(None).prctl(36,1,0,0,0);os.execv(sys.argv[1],sys.argv[1:])'
  return (file, args) => ({ file: python, args: ['-c', script, file, ...args] })
})

/** Kills everything below a process, until two looks in a row find nothing: a process can fork between look and sendSignal. */
export function killDescendants(pid: number): void {
  for (let empty = 0, looks = 0; empty < 2 && looks < 200; looks++) {
    const found = descendants(pid)
    for (const each of found) sendSignal(each, 'SIGKILL')
    empty = found.length === 0 ? empty + 1 : 0
  }
}

function descendants(pid: number): number[] {
  const below = children(pid)
  return below.flatMap((each) => [...(isZombie(each) ? [] : [each]), ...descendants(each)])
}

function children(pid: number): number[] {
  try {
    return readdirSync(`/proc/${pid}/task`).flatMap((task) =>
      readFileSync(`/proc/${pid}/task/${task}/children`, 'utf8')
        .split(' ')
        .filter((word) => word !== '')
        .map(Number),
    )
  } catch {
    return []
  }
}

function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    return true
  }
}
