import type { AgentEvent } from '../../contract/events.ts'
import type { Outcome } from '../../contract/outcome.ts'
import { redactDeep, type Redact } from '../../contract/secrets/redact.ts'
import { createEventRedactor } from '../../runtime/redact-ports.ts'
import type { Driver } from '../drivers/driver.ts'
import type { Exit } from '../readers/outcome.ts'
import { createTextJoiner } from './text-joiner.ts'

/** Reads a recorded stream line by line, as if it were live, and redacts secrets; keeps at most one message in memory. */
export function readTranscript(driver: Driver, redact: Redact, onEvent: (event: AgentEvent) => void) {
  const reader = driver.read()
  const clean = createEventRedactor(redact)
  const show = (event: AgentEvent) => onEvent(clean(event))
  const joiner = createTextJoiner(show)
  const emit = driver.textInPieces ? joiner.onEvent : show
  return {
    line: (line: string): void => {
      if (line.trim() !== '') for (const event of reader.parse(line)) emit(event)
    },
    end: (exit: Exit): Outcome => {
      joiner.end()
      return redactDeep(reader.finish(exit), redact)
    },
  }
}
