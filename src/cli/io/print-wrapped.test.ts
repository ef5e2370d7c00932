import { expect, it } from 'vitest'
import { printWrapped, wrapRow } from './print-wrapped.ts'

it.each([
  [
    'a row below its text',
    '  run    Work on a goal until it is reached',
    24,
    ['  run    Work on a goal', '         until it is', '         reached'],
  ],
  ['a text below its indent', '  one two three', 10, ['  one two', '  three']],
  ['no word, which may be a path', 'see /a/very/long/path/to/it now', 12, ['see /a/very/long/path/to/it', 'now']],
  ['nothing that fits', 'short', 5, ['short']],
  ['a row with colours', '\u001B[2mrun\u001B[22m  one two', 10, ['\u001B[2mrun\u001B[22m  one', '     two']],
])('wraps %s', (_, line, width, lines) => {
  expect(wrapRow(line, width)).toEqual(lines)
})

it('prints a long line whole where no terminal reads it', () => {
  const printed: string[] = []
  const io = { print: (text: string) => void printed.push(text), columns: () => 10 }
  printWrapped(['one two three'], { ...io, canRedraw: false })
  printWrapped(['one two three'], { ...io, canRedraw: true })

  expect(printed).toEqual(['one two three', 'one two', 'three'])
})
