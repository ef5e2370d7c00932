import { dropLastCharacter } from '../io/width.ts'

/** The actions of the live view's keys. */
export interface KeyActions {
  /** Pauses, or withdraws the pause; returns what to tell the user. */
  readonly pause: () => string
  readonly stop: (when: 'iteration' | 'turn' | 'now') => void
  readonly message: (text: string, when: 'next' | 'now') => void
  /** Opens the list of iterations and steps. */
  readonly browse: () => void
  readonly transcript: () => void
  readonly diff: () => void
  readonly help: () => void
  readonly leave: () => void
  /** The line below the view. */
  readonly notify: (text: string) => void
}

const stopMenu = 'stop: i after the iteration · t after the turn · n now · Esc cancel'

type KeyMode = { readonly kind: 'keys' } | { readonly kind: 'stop' } | { readonly kind: 'tell'; readonly text: string }

/** Turns key presses into actions: single keys, the stop menu, and a line of text for the agent. */
export function createKeyHandler(actions: KeyActions): (input: string) => void {
  let typing: KeyMode = { kind: 'keys' }
  const back = (footer: string) => {
    typing = { kind: 'keys' }
    actions.notify(footer)
  }
  const onKey: Readonly<Record<string, () => void>> = {
    p: () => back(actions.pause()),
    s: () => {
      typing = { kind: 'stop' }
      actions.notify(stopMenu)
    },
    t: () => {
      typing = { kind: 'tell', text: '' }
      actions.notify(messagePrompt(''))
    },
    '\r': actions.browse,
    '\n': actions.browse,
    '\u001b[A': actions.browse,
    '\u001b[B': actions.browse,
    l: actions.transcript,
    d: actions.diff,
    '?': actions.help,
    q: actions.leave,
    '\u001b': () => actions.notify(''),
  }
  const onStop = (key: string) => {
    const when = ({ i: 'iteration', t: 'turn', n: 'now' } as const)[key]
    if (when) actions.stop(when)
    back(when ? `stopping ${when === 'now' ? 'now' : `after this ${when}`}` : '')
  }
  const onText = (input: string, text: string) => {
    if (input === '\u001b') return back('')
    if (input === '\r' || input === '\n') {
      if (text.trim() !== '') actions.message(text.trim(), 'next')
      return back(text.trim() === '' ? '' : 'sent with the next prompt')
    }
    const next = input === '\u007f' || input === '\b' ? dropLastCharacter(text) : text + printableText(input)
    typing = { kind: 'tell', text: next }
    actions.notify(messagePrompt(next))
  }
  return (input) => {
    if (typing.kind === 'tell') return onText(input, typing.text)
    if (typing.kind === 'stop') return onStop(input)
    if (Object.hasOwn(onKey, input)) onKey[input]?.()
  }
}

const messagePrompt = (text: string): string => `message to the agent (Enter sends, Esc cancels): ${text}▏`

// oxlint-disable-next-line no-control-regex -- arrows and the like are no text
const printableText = (input: string): string => (/[\u0000-\u001f]/.test(input) ? '' : input)

// oxlint-disable-next-line no-control-regex -- arrows and the like are several characters
const oneKey = /\u001b(?:\[[0-9;]*[A-Za-z~]|O[A-Z])?|[\s\S]/gu

/** Pasted or quickly typed keys arrive in one chunk. */
export const splitKeys = (input: string): string[] => input.match(oneKey) ?? []

/** Reads keys one by one; Ctrl-C stays a signal. Restores the terminal on close. */
export function readKeys(onKey: (input: string) => void): () => void {
  const { stdin } = process
  if (!stdin.isTTY) return () => {}
  const onData = (data: Buffer) => {
    for (const key of splitKeys(data.toString())) {
      if (key === '\u0003') process.kill(process.pid, 'SIGINT')
      else onKey(key)
    }
  }
  stdin.setRawMode(true)
  stdin.resume()
  stdin.on('data', onData)
  return () => {
    stdin.off('data', onData)
    stdin.setRawMode(false)
    stdin.pause()
  }
}
