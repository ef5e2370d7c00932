import type { AgentEvent } from '../../contract/events.ts'
import { asText, toJsonObject } from './json.ts'

export type DriverToolEvent = Extract<AgentEvent, { kind: 'tool' }>

/** The tools that are running, to add the name to the end of a tool. */
export type ToolTracker = {
  readonly has: (id: string) => boolean
  readonly start: (tool: {
    readonly id: string
    readonly name?: string | undefined
    readonly input?: unknown
  }) => DriverToolEvent
  readonly end: (tool: {
    readonly id: string
    readonly ok: boolean
    readonly output?: string | undefined
  }) => DriverToolEvent
}

export function createToolTracker(): ToolTracker {
  const names = new Map<string, string | undefined>()
  return {
    has: (id) => names.has(id),
    start: ({ id, name, input }) => {
      names.set(id, name)
      const argument = findToolArgument(input)
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
const informativeArguments = [
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
const maxArgumentLength = 200

/** The one argument of a tool that is worth showing on a line. */
function findToolArgument(input: unknown): string | undefined {
  const fields = toJsonObject(input)
  for (const name of informativeArguments) {
    const value = fields[name]
    const words = Array.isArray(value) ? value.filter((word) => typeof word === 'string').join(' ') : asText(value)
    if (words) return formatToolArgument(words)
  }
  return undefined
}

function formatToolArgument(text: string): string {
  const line = text
    .slice(0, maxArgumentLength * 2)
    .replaceAll(/\s+/g, ' ')
    .trim()
  return line.length > maxArgumentLength ? `${line.slice(0, maxArgumentLength - 1)}…` : line
}
