import type { Io } from './io.ts'
import { measureWidth } from './width.ts'

/** Prints lines for people. A terminal breaks a long one between words, below the text of its row; a pipe gets it whole. */
export function printWrapped(lines: readonly string[], io: Pick<Io, 'print' | 'canRedraw' | 'columns'>): void {
  for (const line of lines) {
    for (const part of io.canRedraw ? wrapRow(line, io.columns()) : [line]) io.print(part)
  }
}

// oxlint-disable-next-line no-control-regex -- colours begin with the escape character
const colors = /\x1b\[[\d;]*m/g

/**
 * A row has an indent and, before its text, perhaps a name that two spaces end. A word is never cut, since it may be a path; one that
 * fits on no line stays where it is.
 */
export function wrapRow(line: string, width: number): string[] {
  if (measureWidth(line) <= width) return [line]
  const plain = line.replaceAll(colors, '')
  const head = /^\s*\S.*?\s{2,}(?=\S)/.exec(plain)?.[0] ?? /^\s*/.exec(plain)?.[0] ?? ''
  const indent = measureWidth(head) > width / 2 ? '    ' : ' '.repeat(measureWidth(head))
  const lines: string[] = []
  let current = ''
  for (const word of line.split(/(?<=\S)(?= )/)) {
    const fitsAlone = measureWidth(word.trimStart()) <= width - indent.length
    if (current.trim() !== '' && measureWidth(current + word) > width && fitsAlone) {
      lines.push(current)
      current = `${indent}${word.trimStart()}`
    } else current += word
  }
  return [...lines, current]
}
