import { describe, expect, it } from 'vitest'
import { diffTexts, parsePatchLines, countDiffLines } from './line-diff.ts'

describe('a diff of two texts', () => {
  it('keeps equal lines and marks removed and added ones', () => {
    expect(diffTexts('a\nb\nc', 'a\nx\ny\nc')).toEqual([
      { kind: 'same', text: 'a' },
      { kind: 'del', text: 'b' },
      { kind: 'add', text: 'x' },
      { kind: 'add', text: 'y' },
      { kind: 'same', text: 'c' },
    ])
  })

  it('is all additions for a new file and empty for no change', () => {
    expect([countDiffLines(diffTexts('', 'one\ntwo\n')), countDiffLines(diffTexts('same', 'same'))]).toEqual([
      { added: 2, removed: 0 },
      { added: 0, removed: 0 },
    ])
  })

  it('does not compare very long texts line by line', () => {
    const long = (word: string) => Array.from({ length: 3000 }, (_, n) => `${word} ${n}`).join('\n')
    expect(countDiffLines(diffTexts(long('old'), long('new')))).toEqual({ added: 3000, removed: 3000 })
  })
})

it('parses a unified patch without its file names', () => {
  const patch =
    'diff --git a/x b/x\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n ctx\n-old\n+new\n\\ No newline at end of file\n'
  expect(parsePatchLines(patch)).toEqual([
    { kind: 'hunk', text: '@@ -1 +1 @@' },
    { kind: 'same', text: 'ctx' },
    { kind: 'del', text: 'old' },
    { kind: 'add', text: 'new' },
  ])
})
