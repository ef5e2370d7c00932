import type { AgentEvent } from '../../contract/events.ts'

/** A message is told in parts when it is longer than this. */
const mostCharacters = 1024 * 1024

/** For programs that give their messages in pieces: tells each message once, when it is whole. Call `end` after the last piece. */
export function wholeTexts(onEvent: (event: AgentEvent) => void) {
  let text = ''
  const end = () => {
    if (text !== '') onEvent({ kind: 'text', text })
    text = ''
  }
  return {
    onEvent: (event: AgentEvent) => {
      if (event.kind === 'text') {
        text += event.text
        if (text.length > mostCharacters) end()
        return
      }
      // What only counts, or is not understood, comes in the middle of a message too.
      if (event.kind !== 'usage' && event.kind !== 'raw') end()
      onEvent(event)
    },
    end,
  }
}
