import { resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import { isFolder, readTextIfExists } from '../../platform/files/files.ts'
import type { Io } from '../io/io.ts'

type GoalFlags = { readonly goal?: string; readonly 'goal-file'?: string }

/** The goal of the command line: its text, `-` for stdin, or `@FILE`. Undefined if none is given. */
export async function readGoal(flags: GoalFlags, io: Io): Promise<string | undefined> {
  const { goal, 'goal-file': file } = flags
  if (goal !== undefined && file !== undefined) throw new RalphError('USAGE', 'use one of --goal and --goal-file')
  if (file !== undefined) return file === '-' ? readStdin() : readGoalFile(file, io)
  if (goal === '-') return readStdin()
  return goal?.startsWith('@') ? readGoalFile(goal.slice(1), io) : goal
}

async function readStdin(): Promise<string> {
  const { text } = await import('node:stream/consumers')
  return requireText(await text(process.stdin), 'stdin')
}

async function readGoalFile(file: string, io: Io): Promise<string> {
  if (file.trim() === '') throw new RalphError('USAGE', 'name a file with the goal: --goal @GOAL.md')
  const path = resolve(io.cwd, file)
  if (isFolder(path)) throw new RalphError('FILE_UNREADABLE', 'this is a folder, not a file', { place: { file } })
  const goal = await readTextIfExists(path)
  if (goal !== undefined) return requireText(goal, file)
  throw new RalphError('FILE_NOT_FOUND', 'there is no such file with a goal', {
    place: { file },
    hint: 'a goal that starts with "@" names a file; for the text itself begin with a space',
  })
}

/** A goal in another encoding, such as UTF-16 of PowerShell, or of a file that holds no text would be sent as noise. */
function requireText(goal: string, file: string): string {
  if (!/[\0\uFFFD]/.test(goal)) return goal
  throw new RalphError('FILE_UNREADABLE', 'this is not a text in UTF-8', {
    place: { file },
    hint: 'save the goal as UTF-8',
  })
}
