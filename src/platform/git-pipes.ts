import type { ChildProcess } from 'node:child_process'
import { closeSync, constants, existsSync, lstatSync, openSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { RalphError } from '../contract/errors.ts'

/** In every folder of a work tree. */
const namesReadByGit: ReadonlySet<string> = new Set(['.gitignore', '.gitattributes', '.gitmodules', '.mailmap'])

const pollMs = 200
/** For a child process of git, and where the kernel does not say what a process waits for. */
const firstSearchMs = 2000

/**
 * Kills git if it waits for a pipe, which an agent can put in place of `.gitignore` or of a file in `.git`. Returns a function that
 * returns the error if that was the reason; call it when git has ended.
 */
export function killIfWaiting(child: ChildProcess, workTree: string): () => RalphError | undefined {
  let error: RalphError | undefined
  let isClosed = false
  let [waited, searchAt] = [0, firstSearchMs]
  const poll = async (): Promise<void> => {
    waited += pollMs
    if (waited >= searchAt || (searchAt === firstSearchMs && opensPipe(child.pid))) await search()
    if (!isClosed && error === undefined) timer = schedule()
  }
  const search = async (): Promise<void> => {
    // Git may just be slow, and a search takes as long as a `git status`.
    searchAt = Math.max(searchAt, waited) * 2
    // A file may vanish in the middle.
    const pipe = await findAwaitedPipe(workTree, () => isClosed).catch(() => undefined)
    if (isClosed || pipe === undefined) return
    error = waitsFor(pipe)
    child.kill('SIGKILL')
  }
  const schedule = () => setTimeout(() => void poll(), pollMs).unref()
  let timer = schedule()
  child.once('close', () => {
    isClosed = true
    clearTimeout(timer)
  })
  return () => error
}

/** Whether the kernel says that a process opens a pipe that has no other end. */
function opensPipe(pid: number | undefined): boolean {
  try {
    return ['wait_for_partner', 'fifo_open'].includes(readFileSync(`/proc/${pid}/wchan`, 'utf8'))
  } catch {
    return false
  }
}

const waitsFor = (pipe: string): RalphError =>
  new RalphError('GIT_FAILED', `git waits for ${pipe}, which is a pipe instead of a file`, {
    hint: `remove it: rm '${pipe}'`,
  })

type Folder = { readonly path: string; readonly isGit: boolean }

/** A work tree with more folders is not searched to the end. */
const maxFolders = 500_000

async function findAwaitedPipe(workTree: string, isCancelled: () => boolean): Promise<string | undefined> {
  const root = realpathSync(workTree)
  const own = readGitFolders(join(root, '.git')).filter(isGitFolder)
  const queue: Folder[] = [
    ...own.map((path) => ({ path, isGit: true })),
    { path: root, isGit: basename(workTree).endsWith('.git') },
  ]
  // An agent can write any path into a `.git` file.
  const isInside = (path: string) => [root, ...own].some((folder) => path === folder || path.startsWith(`${folder}/`))
  const visited = new Set<string>()
  for (let next = queue.pop(); next !== undefined && !isCancelled(); next = queue.pop()) {
    const key = `${next.isGit} ${next.path}`
    if (visited.has(key)) continue
    visited.add(key)
    if (visited.size > maxFolders) return undefined
    for (const entry of await readdir(next.path, { withFileTypes: true }).catch(() => [])) {
      const path = join(next.path, entry.name)
      if (entry.isDirectory()) queue.push({ path, isGit: next.isGit || entry.name === '.git' })
      else if (entry.isFile()) {
        const linked = entry.name === '.git' ? readGitFolders(path).filter(isInside) : []
        queue.push(...linked.map((folder) => ({ path: folder, isGit: true })))
      } else if ((next.isGit || namesReadByGit.has(entry.name)) && isAwaited(path)) return path
    }
  }
  return undefined
}

/** Real paths that the `.git` file of a linked worktree or a submodule leads to: its own git folder, and the one that it shares. */
function readGitFolders(link: string): string[] {
  try {
    const target = /^gitdir: (.*)$/m.exec(readIfFile(link) ?? '')?.[1]
    if (target === undefined) return []
    const own = realpathSync(resolve(dirname(link), target))
    const common = readIfFile(join(own, 'commondir'))?.trim()
    return [own, ...(common === undefined ? [] : [realpathSync(resolve(own, common))])]
  } catch {
    // It leads nowhere.
    return []
  }
}

const isGitFolder = (path: string): boolean => existsSync(join(path, 'HEAD'))

const readIfFile = (path: string): string | undefined =>
  lstatSync(path, { throwIfNoEntry: false })?.isFile() ? readFileSync(path, 'utf8') : undefined

/** Whether a process waits for a writer of this pipe. The process gets an empty file instead. */
function isAwaited(path: string): boolean {
  try {
    if (!statSync(path).isFIFO()) return false
    closeSync(openSync(path, constants.O_WRONLY | constants.O_NONBLOCK))
    return true
  } catch {
    // ENXIO: no process reads it.
    return false
  }
}
