import type { AgentEvent } from '../contract/events.ts'
import type { Outcome } from '../contract/outcome.ts'
import { conclude } from './conclude.ts'
import type { Exit, Reader } from './driver.ts'
import { type JsonObject, parseObject } from './json.ts'
import type { Seen } from './seen.ts'

/** One line of output, as an object, to events. What gives no event is kept as raw by the caller. */
export type Translate<S> = (seen: S, entry: JsonObject) => AgentEvent[]

/** A reader of programs that print one JSON object per line. */
export const jsonLines = <S extends Seen>(
  seen: S,
  translate: Translate<S>,
  judge: (seen: S, exit: Exit) => Outcome = conclude,
): Reader => ({
  parse: (line) => {
    const entry = parseObject(line)
    if (!entry) return [{ kind: 'raw', line }]
    const events = translate(seen, entry)
    if (events.length === 0) return [{ kind: 'raw', line }]
    seen.spoke = true
    return events
  },
  finish: (exit) => judge(seen, exit),
})
