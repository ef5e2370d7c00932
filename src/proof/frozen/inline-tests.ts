import { maskCode } from '../mutate/code-text.ts'
import { addRustExamples, isRustExample, readRustExamples } from './rust-examples.ts'

/** A source file with tests inside, on either side of a claim. */
export type InlineTexts = {
  /** The code of the claim with the tests of the start. */
  readonly oldOnNew: string
  /** The code of the start with the tests of the claim. */
  readonly newOnOld: string
}

/** Exchanges the tests inside a source file; undefined where they do not differ, or the file can hold none. */
export function exchangeInlineTests(path: string, before: string, after: string): InlineTexts | undefined {
  const form = forms.find(({ files }) => files.test(path))
  if (!form) return undefined
  const [old, now] = [form.read(before), form.read(after)]
  if (old.tests.join('\n') === now.tests.join('\n')) return undefined
  return {
    oldOnNew: old.tests.length === 0 ? after : form.join(now.code, old.tests),
    newOnOld: form.join(old.code, now.tests),
  }
}

export const canHoldTests = (path: string): boolean => forms.some(({ files }) => files.test(path))

type Parts = { readonly code: string; readonly tests: readonly string[] }

type InlineForm = {
  readonly files: RegExp
  readonly read: (text: string) => Parts
  readonly join: (code: string, tests: readonly string[]) => string
}

const attributes = String.raw`(?:\s*#\[[^\]]*\])*\s*`
const rustTests = new RegExp(
  String.raw`#\[cfg\((?:all\()?test\b[^\]]*\]${attributes}(?:pub\s+)?mod\s+\w+\s*\{|#\[(?:\w+::)?test\b[^\]]*\]${attributes}(?:pub\s+)?(?:async\s+)?fn\s+\w+[^{;]*\{`,
  'g',
)
const vitestTests = /if\s*\(\s*import\.meta\.vitest\s*\)\s*\{/g

const appendBlocks = (code: string, tests: readonly string[]): string => [code, ...tests, ''].join('\n')

const forms: readonly InlineForm[] = [
  { files: /\.rs$/, read: readRust, join: joinRust },
  { files: /\.[cm]?[jt]sx?$/, read: (text) => readBlocks(text, vitestTests), join: appendBlocks },
  { files: /\.py$/, read: readExamples, join: addExamples },
]

/** Test modules and functions, and the examples in comments, which stay in the code. */
function readRust(text: string): Parts {
  const { code, tests } = readBlocks(text, rustTests)
  return { code, tests: [...tests, ...readRustExamples(code)] }
}

function joinRust(code: string, tests: readonly string[]): string {
  const blocks = tests.filter((test) => !isRustExample(test))
  const examples = tests.filter(isRustExample)
  return addRustExamples(blocks.length === 0 ? code : appendBlocks(code, blocks), examples)
}

/** Blocks in braces that begin with the pattern. */
function readBlocks(text: string, pattern: RegExp): Parts {
  const masked = maskCode(text, 'c-like', 'comments-and-strings')
  const tests: string[] = []
  let code = ''
  let at = 0
  for (const match of text.matchAll(pattern)) {
    if (match.index < at || masked[match.index] !== text[match.index]) continue
    const end = findClosingBrace(masked, match.index + match[0].length)
    tests.push(text.slice(match.index, end))
    code += text.slice(at, match.index)
    at = end
  }
  return { code: code + text.slice(at), tests }
}

function findClosingBrace(masked: string, from: number): number {
  let depth = 1
  for (let at = from; at < masked.length; at++) {
    if (masked[at] === '{') depth++
    else if (masked[at] === '}' && --depth === 0) return at + 1
  }
  return masked.length
}

const docString = /("""|''')([\s\S]*?)\1/g

/** Doc strings with examples that doctest runs. */
function readExamples(text: string): Parts {
  const bodies = [...text.matchAll(docString)].map(([, , body = '']) => body)
  return { code: text, tests: bodies.filter((body) => /^\s*>>> /m.test(body)) }
}

/** doctest also runs the texts in `__test__` of a module. */
function addExamples(code: string, tests: readonly string[]): string {
  if (/^__test__\s*=/m.test(code)) return code
  const entries = tests.map((body, index) => `    "start ${index + 1}": ${JSON.stringify(dedent(body))},`)
  return [code, '__test__ = {', ...entries, '}', ''].join('\n')
}

function dedent(body: string): string {
  const lines = body.replace(/^\n/, '').split('\n')
  const depth = Math.min(
    ...lines
      .slice(1)
      .filter((line) => line.trim() !== '')
      .map((line) => line.search(/\S/)),
    999,
  )
  return `${lines.map((line, at) => (at === 0 && line.search(/\S/) < depth ? line.trimStart() : line.slice(depth))).join('\n')}\n`
}
