import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { conclude } from './outcome.ts'
import type { Exit, Reader } from './driver.ts'
import { type JsonObject, parseObject } from './json.ts'
import type { Seen } from './seen.ts'

export type Language<S> = {
  /** One line of output, as an object, to events. A line that gives no event is kept as raw by the caller. */
  readonly translate: (seen: S, entry: JsonObject) => AgentEvent[]
  /** How the end is judged, if it takes more than the common rules. */
  readonly judge?: (seen: S, exit: Exit) => Outcome
  /** What matters of a line of which not everything has to be parsed; undefined for all others. */
  readonly glance?: (line: string) => JsonObject | undefined
}

/** A reader of programs that print one JSON object per line. */
export function jsonLines<S extends Seen>(seen: S, language: Language<S>): Reader {
  const { translate, judge = conclude, glance } = language
  return {
    parse: (line) => {
      const entry = glance?.(line) ?? parseObject(line)
      if (!entry) return [{ kind: 'raw', line }]
      const events = translate(seen, entry)
      if (events.length === 0) return [{ kind: 'raw', line }]
      seen.spoke = true
      return events
    },
    finish: (exit) => judge(seen, exit),
  }
}
