import { maskCode } from '../mutate/code-text.ts'
import { nameStartExample } from '../tests/form/start-example.ts'

/** Examples in `///` and `//!` comments that rustdoc runs, each as a function without a number that carries it. */
export function readRustExamples(text: string): string[] {
  const masked = maskCode(text, 'c-like', 'comments-and-strings')
  return [...text.matchAll(docComment)].flatMap((match) => {
    const blocks = readBlocks(match[0].split('\n').map((line) => line.replace(/^[ \t]*\/\/[/!]/, '')))
    if (blocks.length === 0) return []
    const parents = listParents(text, masked, match.index)
    const isInner = match[0].trimStart().startsWith('//!')
    const item = isInner ? parents : [...parents, readItemName(masked.slice(match.index + match[0].length))]
    return blocks.map((block) => `${block}\n#[cfg(doctest)]\nfn ${nameStartExample(item.join('::'))}`)
  })
}

/** Appends what the code does not have. rustdoc runs the examples of private functions too; no other build sees them. */
export function addRustExamples(code: string, examples: readonly string[]): string {
  const present = new Set(readRustExamples(code))
  const absent = examples.filter((example) => !present.has(example))
  return absent.length === 0 ? code : [code, ...absent.map((text, index) => `${text}_${index + 1}() {}`), ''].join('\n')
}

/** Lines of one kind that follow each other. Four slashes are no documentation. */
const docComment = /^[ \t]*\/\/\/(?!\/).*(?:\n[ \t]*\/\/\/(?!\/).*)*|^[ \t]*\/\/!.*(?:\n[ \t]*\/\/!.*)*/gm

function readBlocks(lines: readonly string[]): string[] {
  const blocks: string[] = []
  let fence: string | undefined
  let block: string[] = []
  for (const line of lines) {
    const [, marks = '', words = ''] = /^\s*(`{3,}|~{3,})\s*([^`]*)$/.exec(line) ?? []
    const isEnd = fence !== undefined && marks.startsWith(fence) && words.trim() === ''
    if (fence === undefined && marks === '') continue
    block.push(`///${line}`)
    if (fence === undefined) fence = marks
    else if (isEnd) {
      blocks.push(block.join('\n'))
      fence = undefined
      block = []
    }
  }
  // rustdoc ends an open block with the comment.
  return [...blocks, ...(block.length > 0 ? [block.join('\n')] : [])].filter(isRun)
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
