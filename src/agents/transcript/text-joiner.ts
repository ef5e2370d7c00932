import type { AgentEvent } from '../../contract/events.ts'

/** Longer messages are emitted in parts. */
const maxCharacters = 1024 * 1024

/** For programs that stream their messages in chunks: emits each message once it is complete. Call `end` after the last chunk. */
export function createTextJoiner(onEvent: (event: AgentEvent) => void) {
  let text = ''
  const end = () => {
    if (text !== '') onEvent({ kind: 'text', text })
    text = ''
  }
  return {
    onEvent: (event: AgentEvent) => {
      if (event.kind === 'text') {
        text += event.text
        if (text.length > maxCharacters) end()
        return
      }
      // Usage and raw lines also occur in the middle of a message.
      if (event.kind !== 'usage' && event.kind !== 'raw') end()
      onEvent(event)
    },
    end,
  }
}
