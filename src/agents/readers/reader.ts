import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { toOutcome, type Exit } from './outcome.ts'
import { type JsonObject, parseObject } from './json.ts'
import type { ReaderState } from './reader-state.ts'

/** Reads the output of one attempt. Keeps state; does no I/O. */
export interface Reader {
  /** Never throws: a line that it does not understand becomes `raw`. A `usage` event is the total of the attempt so far. */
  parse: (line: string) => readonly AgentEvent[]
  /** Called once, after the last line. No terminal event means failed, whatever the exit code. */
  finish: (exit: Exit) => Outcome
}

export type StreamLanguage<S> = {
  /** Translates one line of output, parsed, into events. The caller keeps a line without events as raw. */
  readonly translate: (state: S, entry: JsonObject) => AgentEvent[]
  /** Decides the outcome; default: the common rules. */
  readonly judge?: (state: S, exit: Exit) => Outcome
  /** Fast path: parses only the relevant part of a line; undefined if the line needs a full parse. */
  readonly parseQuickly?: (line: string) => JsonObject | undefined
}

/** Creates a reader for programs that print one JSON object per line. */
export function createJsonReader<S extends ReaderState>(state: S, language: StreamLanguage<S>): Reader {
  const { translate, judge = toOutcome, parseQuickly } = language
  return {
    parse: (line) => {
      const entry = parseQuickly?.(line) ?? parseObject(line)
      if (!entry) return [{ kind: 'raw', line }]
      const events = translate(state, entry)
      if (events.length === 0) return [{ kind: 'raw', line }]
      state.understoodAny = true
      return events
    },
    finish: (exit) => judge(state, exit),
  }
}
