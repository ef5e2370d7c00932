import { quoteShellWord } from '../contract/text.ts'
import { errorMessage } from '../contract/errors.ts'
import { resolve } from 'node:path'
import { readTextIfExists } from '../platform/files/files.ts'
import { writeText } from '../platform/files/text-files.ts'
import type { ScenarioAction } from './scenario.ts'
import { runInShell, type CommandResult } from './shell.ts'
import type { StreamLine, ToolResult } from './stream.ts'

export type ToolAction = Extract<ScenarioAction, { type: 'read' | 'write' | 'edit' | 'delete' | 'run' }>

/** An action, with the name and input of Claude Code's own tool for it. */
export type ScriptedTool = {
  readonly name: 'Bash' | 'Edit' | 'Read' | 'Write'
  readonly input: StreamLine
  /** Performs the action. Failures become part of the result, for the agent to read; never throws. */
  readonly use: () => Promise<ToolResult>
}

export function toolFor(action: ToolAction, cwd: string): ScriptedTool {
  if (action.type === 'run') return bashTool(action.command, cwd)
  if (action.type === 'delete') return bashTool(`rm -- ${quoteShellWord(action.path)}`, cwd)
  const path = resolve(cwd, action.path)
  switch (action.type) {
    case 'read':
      return { name: 'Read', input: { file_path: path }, use: catchToolErrors(() => readTool(path)) }
    case 'write':
      return {
        name: 'Write',
        input: { file_path: path, content: action.content },
        use: catchToolErrors(() => writeTool(path, action.content)),
      }
    case 'edit':
      return {
        name: 'Edit',
        input: { file_path: path, old_string: action.from, new_string: action.to },
        use: catchToolErrors(() => editTool(path, action)),
      }
  }
}

async function readTool(path: string): Promise<ToolResult> {
  const text = await readTextIfExists(path)
  if (text === undefined) return scriptedToolError('File does not exist.')
  const numbered = text.split('\n').map((line, index) => `${String(index + 1).padStart(6)}\t${line}`)
  return toolSuccess(numbered.join('\n'))
}

async function writeTool(path: string, content: string): Promise<ToolResult> {
  const before = await readTextIfExists(path)
  await writeText(path, content)
  return toolSuccess(
    before === undefined ? `File created successfully at: ${path}` : `The file ${path} has been updated.`,
  )
}

async function editTool(path: string, { from, to }: Extract<ToolAction, { type: 'edit' }>): Promise<ToolResult> {
  const text = await readTextIfExists(path)
  if (text === undefined) return scriptedToolError('File does not exist.')
  const parts = text.split(from)
  if (parts.length === 1) return scriptedToolError(`String to replace not found in file.\nString: ${from}`)
  if (parts.length > 2)
    return scriptedToolError(`Found ${parts.length - 1} matches of the string to replace.\nString: ${from}`)
  await writeText(path, parts.join(to))
  return toolSuccess(`The file ${path} has been updated.`)
}

const bashTool = (command: string, cwd: string): ScriptedTool => ({
  name: 'Bash',
  input: { command },
  use: catchToolErrors(async () => commandResult(await runInShell(command, cwd))),
})

const commandResult = ({ exitCode, output }: CommandResult): ToolResult =>
  exitCode === 0 ? toolSuccess(output) : { content: `Exit code ${exitCode}\n${output}`.trimEnd(), isError: true }

const toolSuccess = (content: string): ToolResult => ({ content, isError: false })

const scriptedToolError = (reason: string): ToolResult => ({
  content: `<tool_use_error>${reason}</tool_use_error>`,
  isError: true,
})

/** A full disk or a forbidden folder becomes the tool's result, too. */
const catchToolErrors = (use: () => Promise<ToolResult>) => async (): Promise<ToolResult> => {
  try {
    return await use()
  } catch (error) {
    return scriptedToolError(errorMessage(error))
  }
}
