import { maskCode } from '../mutate/code-text.ts'
import { nameStartExample } from '../tests/form/start-example.ts'

/** Examples that rustdoc runs, in every form of documentation, each as a function without a number that carries it. */
export function readRustExamples(text: string): string[] {
  const runs = [...text.matchAll(docRun)]
  if (runs.length === 0) return []
  const masked = maskCode(text.replaceAll(docRun, blank), 'c-like', 'comments-and-strings')
  return runs.flatMap(([run, inner], at) => {
    const pieces = [...run.matchAll(docPiece)].map(([piece]) => piece)
    const blocks = [...readBlocks(pieces.flatMap(readLines)), ...pieces.flatMap(readIncluded)]
    if (blocks.length === 0) return []
    const index = runs[at]?.index ?? 0
    const parents = listParents(text, masked, index)
    const item = inner !== undefined ? parents : [...parents, readItemName(masked.slice(index + run.length))]
    return blocks.map((block) => `${block}\n#[cfg(doctest)]\nfn ${nameStartExample(item.join('::'))}`)
  })
}

export const isRustExample = (test: string): boolean => /^(?:\/\/\/|#\[doc)/.test(test)

/** A name, or names that `concat!` joins, as `concat!(env!("CARGO_MANIFEST_DIR"), "/README.md")`. */
const includedName = String.raw`"[^"\n]+"|concat!\s*\((?:[^()"]|"[^"\n]*"|\([^()]*\))*\)`
const included = new RegExp(String.raw`\b(?:doc\s*=\s*include_str|doctest)!\s*\(\s*(${includedName})`, 'g')

/** Files whose examples the documentation of a source includes: relative to the source, or to its crate after a slash. */
export const listIncludedDocs = (text: string): string[] =>
  [...text.matchAll(included)].map(([, name = '']) =>
    [...name.replaceAll(/env!\s*\([^()]*\)/g, '').matchAll(/"([^"\n]*)"/g)].map(([, part = '']) => part).join(''),
  )

/** Appends what the code does not have. rustdoc runs the examples of private functions too; no other build sees them. */
export function addRustExamples(code: string, examples: readonly string[]): string {
  const present = new Set(readRustExamples(code))
  const absent = examples.filter((example) => !present.has(example))
  return absent.length === 0 ? code : [code, ...absent.map((text, index) => `${text}_${index + 1}() {}`), ''].join('\n')
}

const literal = String.raw`(?:r(#*)"[\s\S]*?"\N|"(?:\\[\s\S]|[^"\\])*"|include_str!\s*\(\s*(?:${includedName})\s*\))`
/** Four slashes and three stars are no documentation. */
const outer = String.raw`\/\/\/(?!\/)[^\n]*|\/\*\*(?![*/])[\s\S]*?\*\/|#\[(?:cfg_attr\([^\]"]*,\s*)?doc\s*=\s*${literal}\s*\)?\s*\]`
const inner = String.raw`\/\/![^\n]*|\/\*![\s\S]*?\*\/|#!\[(?:cfg_attr\([^\]"]*,\s*)?doc\s*=\s*${literal}\s*\)?\s*\]`
const numbered = (pattern: string, group: number): string => pattern.replaceAll(String.raw`\N`, `\\${group}`)

/** What documents one item, whatever forms it mixes. The first group: documentation inside of the item. */
const docRun = new RegExp(
  String.raw`(?<=^[ \t]*)(?:((?:${numbered(inner, 2)})(?:\s*(?:${numbered(inner, 3)}))*)|(?:${numbered(outer, 4)})(?:\s*(?:${numbered(outer, 5)}))*)`,
  'gm',
)
const docPiece = new RegExp(`${numbered(inner, 1)}|${numbered(outer, 2)}`, 'g')

const blank = (token: string): string => token.replaceAll(/[^\n]/g, ' ')

function readLines(piece: string): string[] {
  if (/^\/\/[/!]/.test(piece)) return [piece.slice(3)]
  if (piece.startsWith('/*')) return withoutStars(piece.slice(3, -2).split('\n'))
  const [, , raw, plain] = /doc\s*=\s*(?:r(#*)"([\s\S]*?)"\1|"((?:\\[\s\S]|[^"\\])*)")/.exec(piece) ?? []
  return (raw ?? unescape(plain ?? '')).split('\n')
}

/** Block comments often begin each line with a star. */
function withoutStars(lines: readonly string[]): string[] {
  const [first = '', ...rest] = lines
  const isDecorated = rest.some((line) => line.trim() !== '') && rest.every((line) => /^\s*(?:\*|$)/.test(line))
  return [first, ...rest.map((line) => (isDecorated ? line.replace(/^\s*\*/, '') : line))]
}

const unescape = (text: string): string =>
  text
    .replaceAll(/\\\n\s*/g, '')
    .replaceAll(/\\(["'\\ntr0])/g, (_, sign: string) => ({ n: '\n', t: '\t', r: '\r', '0': '\0' })[sign] ?? sign)

/** The included file is frozen by itself. */
function readIncluded(piece: string): string[] {
  return [...piece.matchAll(included)].map(([, name = '']) => `#[doc = include_str!(${name})]`)
}

function readBlocks(lines: readonly string[]): string[] {
  const { fenced, rest } = readFenced(lines)
  return [...fenced, ...readIndented(rest)].filter(isRun)
}

/** `rest` has an empty line in place of each line of a block. */
function readFenced(lines: readonly string[]): { readonly fenced: string[]; readonly rest: string[] } {
  const fenced: string[] = []
  const rest: string[] = []
  let fence: string | undefined
  let block: string[] = []
  for (const line of lines) {
    const [, marks = '', words = ''] = /^\s*(`{3,}|~{3,})\s*([^`]*)$/.exec(line) ?? []
    const isEnd = fence !== undefined && marks.startsWith(fence) && words.trim() === ''
    const isOutside = fence === undefined && marks === ''
    rest.push(isOutside ? line : '')
    if (isOutside) continue
    block.push(`///${line}`)
    if (fence === undefined) fence = marks
    else if (isEnd) {
      fenced.push(block.join('\n'))
      fence = undefined
      block = []
    }
  }
  // rustdoc ends an open block with the comment.
  return { fenced: [...fenced, ...(block.length > 0 ? [block.join('\n')] : [])], rest }
}

/** Examples that four spaces mark, written with fences. They cannot interrupt a paragraph, and a list item indents its own. */
function readIndented(lines: readonly string[]): string[] {
  const margin = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)))
  const blocks: string[][] = []
  let around: 'nothing' | 'text' | 'list' | 'code' = 'nothing'
  let afterBlank = true
  for (const line of lines.map((text) => text.slice(margin))) {
    const isBlank = line.trim() === ''
    if (isBlank && around === 'text') around = 'nothing'
    else if (isBlank && around === 'code') blocks.at(-1)?.push('')
    else if (line.startsWith('    ') && (around === 'nothing' || around === 'code')) {
      if (around === 'nothing') blocks.push([])
      blocks.at(-1)?.push(line.slice(4))
      around = 'code'
    } else if (/^ {0,3}(?:[-*+]|\d+[.)])\s/.test(line)) around = 'list'
    else if (!isBlank && (around !== 'list' || (afterBlank && !line.startsWith(' '))))
      around = /^#{1,6}\s/.test(line) ? 'nothing' : 'text'
    afterBlank = isBlank
  }
  return blocks.map((block) =>
    ['```', ...block.join('\n').trimEnd().split('\n'), '```'].map((line) => `/// ${line}`).join('\n'),
  )
}

const runWords =
  /^(?:rust|should_panic|no_run|compile_fail|test_harness|standalone(?:_crate)?|ignore-.*|edition\d+|E\d{4})$/

/** Blocks in another language and ignored ones prove nothing. */
function isRun(block: string): boolean {
  const [, words = ''] = /^\/\/\/\s*[`~]+(.*)/.exec(block) ?? []
  return words.split(/[\s,{}]+/).every((word) => word === '' || runWords.test(word))
}

/** The modules, types and functions around a place, as rustdoc names them. */
function listParents(text: string, masked: string, until: number): string[] {
  const parents: string[] = []
  let from = 0
  for (let at = 0; at < until; at++) {
    const character = masked[at]
    if (character === '{') parents.push(readParentName(text.slice(from, at), masked.slice(from, at)))
    if (character === '}') parents.pop()
    if (character === '{' || character === '}' || character === ';') from = at + 1
  }
  return parents.filter((name) => name !== '')
}

function readParentName(text: string, masked: string): string {
  const start = masked.search(/\bimpl\b/)
  if (start === -1) return /\b(?:mod|trait|struct|enum|union|fn)\s+(\w+)/.exec(masked)?.[1] ?? ''
  const [head = ''] = text.slice(start).split(/\swhere\s/)
  return (head.split(/\sfor\s/).at(-1) ?? '').replace(/^impl\s*(?:<.*?>\s+)?/, '').replaceAll(/\s/g, '')
}

/** The last word before the first sign: `pub const fn add(`, `Variant,`, `field: u8`. */
function readItemName(masked: string): string {
  const item = masked.replace(/^(?:\s*#\[[^\]]*\])*\s*(?:pub\s*\([^)]*\))?/, '')
  return /(\w+)\s*(?:[^\w\s!]|$)/.exec(item)?.[1] ?? ''
}
