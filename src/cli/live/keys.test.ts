import { expect, it } from 'vitest'
import { createKeyHandler, splitKeys } from './keys.ts'

/** Types keys one after the other; returns the resulting actions. */
function pressKeys(...keys: readonly string[]): string[] {
  const done: string[] = []
  const press = createKeyHandler({
    pause: () => {
      done.push('pause')
      return ''
    },
    stop: (when) => done.push(`stop ${when}`),
    message: (text) => done.push(`tell ${text}`),
    browse: () => done.push('browse'),
    transcript: () => done.push('transcript'),
    diff: () => done.push('diff'),
    help: () => done.push('help'),
    leave: () => done.push('leave'),
    notify: () => {},
  })
  for (const key of keys) press(key)
  return done
}

it.each([
  ['p pauses', ['p'], ['pause']],
  ['s and n stop now', ['s', 'n'], ['stop now']],
  ['s and i stop after the iteration', ['s', 'i'], ['stop iteration']],
  ['s and another key do nothing, and the keys work again', ['s', '\u001b', 'p'], ['pause']],
  ['l and d look', ['l', 'd'], ['transcript', 'diff']],
  ['Enter and the arrows browse', ['\r', '\u001b[A', '\u001b[B'], ['browse', 'browse', 'browse']],
  ['? helps and q leaves', ['?', 'q'], ['help', 'leave']],
  ['t, a text and Enter tell it, also if it contains other keys', ['t', 's', 't', 'o', 'p', '\r'], ['tell stop']],
  ['Backspace takes a whole emoji', ['t', 'a', '👩‍💻', '\u007f', '\r'], ['tell a']],
  ['Esc cancels what was typed', ['t', 'x', '\u001b', 'p'], ['pause']],
  ['an empty text is not sent', ['t', ' ', '\r'], []],
  ['arrows are no text', ['t', 'a', '\u001b[A', 'b', '\r'], ['tell ab']],
  ['unknown keys do nothing', ['x', 'constructor'], []],
])('%s', (_, keys, done) => {
  expect(pressKeys(...keys)).toEqual(done)
})

it('handles pasted or quickly typed text key by key, and an arrow as one key', () => {
  expect(splitKeys('tä👩\u001b[A\u001bOP\u001b[1;5C\r\u0003')).toEqual([
    't',
    'ä',
    '👩',
    '\u001b[A',
    '\u001bOP',
    '\u001b[1;5C',
    '\r',
    '\u0003',
  ])
  expect(pressKeys(...splitKeys('tstop it\r'))).toEqual(['tell stop it'])
})
