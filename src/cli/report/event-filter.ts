import type { AgentEvent } from '../../contract/events.ts'

export type EventFilter = {
  /** Only calls of this tool, ignoring case. */
  readonly tool?: string | undefined
  /** Only failures. */
  readonly errors?: boolean | undefined
}

type ToolAgentEvent = Extract<AgentEvent, { kind: 'tool' }>

/** Filters events. With `errors`, a tool call is held back until its result shows that it failed. */
export function createEventFilter({ tool, errors = false }: EventFilter, show: (event: AgentEvent) => void) {
  if (tool === undefined && !errors) return show
  const startedTools = new Map<string, ToolAgentEvent>()
  const onTool = (event: ToolAgentEvent) => {
    if (event.phase === 'start') startedTools.set(event.id, event)
    const start = startedTools.get(event.id)
    if (event.phase === 'end') startedTools.delete(event.id)
    const name = event.name ?? start?.name ?? ''
    if (tool !== undefined && name.toLowerCase() !== tool.toLowerCase()) return
    if (!errors) return show(event)
    if (event.phase === 'start' || event.ok !== false) return
    if (start) show(start)
    show(event)
  }
  return (event: AgentEvent): void => {
    if (event.kind === 'tool') onTool(event)
    else if (tool === undefined && isErrorEvent(event)) show(event)
  }
}

const isErrorEvent = (event: AgentEvent): boolean =>
  event.kind === 'retry' || event.kind === 'limit' || (event.kind === 'terminal' && !event.ok)
