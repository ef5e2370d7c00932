import { resolve } from 'node:path'
import { readTextIfThere } from '../platform/files/files.ts'
import { writeText } from '../platform/files/text-files.ts'
import type { Action } from './scenario.ts'
import { runInShell, type CommandEnd } from './shell.ts'
import type { Line, ToolResult } from './stream.ts'

export type ToolAction = Extract<Action, { type: 'read' | 'write' | 'edit' | 'delete' | 'run' }>

/** An action, with the name and input of Claude Code's own tool for it. */
export type Tool = {
  readonly name: 'Bash' | 'Edit' | 'Read' | 'Write'
  readonly input: Line
  /** Performs the action. Failures become part of the result, for the agent to read; never throws. */
  readonly use: () => Promise<ToolResult>
}

export function toolFor(action: ToolAction, cwd: string): Tool {
  if (action.type === 'run') return bash(action.command, cwd)
  if (action.type === 'delete') return bash(`rm -- ${quote(action.path)}`, cwd)
  const path = resolve(cwd, action.path)
  switch (action.type) {
    case 'read':
      return { name: 'Read', input: { file_path: path }, use: told(() => read(path)) }
    case 'write':
      return {
        name: 'Write',
        input: { file_path: path, content: action.content },
        use: told(() => write(path, action.content)),
      }
    case 'edit':
      return {
        name: 'Edit',
        input: { file_path: path, old_string: action.from, new_string: action.to },
        use: told(() => edit(path, action)),
      }
  }
}

async function read(path: string): Promise<ToolResult> {
  const text = await readTextIfThere(path)
  if (text === undefined) return refused('File does not exist.')
  const numbered = text.split('\n').map((line, index) => `${String(index + 1).padStart(6)}\t${line}`)
  return done(numbered.join('\n'))
}

async function write(path: string, content: string): Promise<ToolResult> {
  const before = await readTextIfThere(path)
  await writeText(path, content)
  return done(before === undefined ? `File created successfully at: ${path}` : `The file ${path} has been updated.`)
}

async function edit(path: string, { from, to }: Extract<ToolAction, { type: 'edit' }>): Promise<ToolResult> {
  const text = await readTextIfThere(path)
  if (text === undefined) return refused('File does not exist.')
  const parts = text.split(from)
  if (parts.length === 1) return refused(`String to replace not found in file.\nString: ${from}`)
  if (parts.length > 2) return refused(`Found ${parts.length - 1} matches of the string to replace.\nString: ${from}`)
  await writeText(path, parts.join(to))
  return done(`The file ${path} has been updated.`)
}

const bash = (command: string, cwd: string): Tool => ({
  name: 'Bash',
  input: { command },
  use: told(async () => commandResult(await runInShell(command, cwd))),
})

const commandResult = ({ exitCode, output }: CommandEnd): ToolResult =>
  exitCode === 0 ? done(output) : { content: `Exit code ${exitCode}\n${output}`.trimEnd(), isError: true }

const quote = (path: string): string => `'${path.replaceAll("'", `'\\''`)}'`

const done = (content: string): ToolResult => ({ content, isError: false })

const refused = (reason: string): ToolResult => ({
  content: `<tool_use_error>${reason}</tool_use_error>`,
  isError: true,
})

/** A full disk or a forbidden folder becomes the tool's result, too. */
const told = (use: () => Promise<ToolResult>) => async (): Promise<ToolResult> => {
  try {
    return await use()
  } catch (error) {
    return refused(error instanceof Error ? error.message : String(error))
  }
}
