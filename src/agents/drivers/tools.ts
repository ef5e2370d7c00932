import type { AgentEvent } from '../../contract/events.ts'
import { asText, objectOf } from './json.ts'

export type ToolEvent = Extract<AgentEvent, { kind: 'tool' }>

/** The tools that are running, to add the name to the end of a tool. */
export type OpenTools = {
  readonly has: (id: string) => boolean
  readonly start: (tool: {
    readonly id: string
    readonly name?: string | undefined
    readonly input?: unknown
  }) => ToolEvent
  readonly end: (tool: { readonly id: string; readonly ok: boolean; readonly output?: string | undefined }) => ToolEvent
}

export function openTools(): OpenTools {
  const names = new Map<string, string | undefined>()
  return {
    has: (id) => names.has(id),
    start: ({ id, name, input }) => {
      names.set(id, name)
      const argument = toolArgument(input)
      return {
        kind: 'tool',
        phase: 'start',
        id,
        ...(name !== undefined && { name }),
        ...(argument !== undefined && { argument }),
        ...(input !== undefined && { input }),
      }
    },
    end: ({ id, ok, output }) => {
      const name = names.get(id)
      names.delete(id)
      return {
        kind: 'tool',
        phase: 'end',
        id,
        ...(name !== undefined && { name }),
        ok,
        ...(output !== undefined && { output }),
      }
    },
  }
}

/** The most informative first. */
const tellingNames = [
  'file_path',
  'filePath',
  'absolute_path',
  'notebook_path',
  'command',
  'cmd',
  'pattern',
  'path',
  'url',
  'query',
  'dir_path',
  'description',
  'prompt',
  'name',
]
const longestArgument = 200

/** The one argument of a tool that is worth showing on a line. */
function toolArgument(input: unknown): string | undefined {
  const fields = objectOf(input)
  for (const name of tellingNames) {
    const value = fields[name]
    const words = Array.isArray(value) ? value.filter((word) => typeof word === 'string').join(' ') : asText(value)
    if (words) return oneLine(words)
  }
  return undefined
}

function oneLine(text: string): string {
  const line = text
    .slice(0, longestArgument * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > longestArgument ? `${line.slice(0, longestArgument - 1)}…` : line
}
