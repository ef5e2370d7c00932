import { maxOutputLength, type SprintEvent } from '../contract/events.ts'

/** The event with long output truncated in the middle; undefined if nothing is too long. */
export function truncateEvent(event: SprintEvent): SprintEvent | undefined {
  if (event.type !== 'agent') return undefined
  const inner = event.event
  if (inner.kind === 'text' && inner.text.length > maxOutputLength) {
    return { ...event, event: { ...inner, text: truncateMiddle(inner.text) } }
  }
  if (inner.kind === 'raw' && inner.line.length > maxOutputLength) {
    return { ...event, event: { ...inner, line: truncateMiddle(inner.line) } }
  }
  if (inner.kind !== 'tool') return undefined
  const isLongInput = JSON.stringify(inner.input ?? null).length > maxOutputLength
  const isLongOutput = (inner.output?.length ?? 0) > maxOutputLength
  if (!isLongInput && !isLongOutput) return undefined
  const { input, output, ...rest } = inner
  const kept = isLongInput ? {} : { input }
  return { ...event, event: { ...rest, ...kept, ...(output !== undefined && { output: truncateMiddle(output) }) } }
}

function truncateMiddle(text: string): string {
  if (text.length <= maxOutputLength) return text
  const half = maxOutputLength / 2
  return `${text.slice(0, half)}\n… ${text.length - maxOutputLength} characters omitted …\n${text.slice(-half)}`
}
