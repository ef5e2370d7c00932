import { Composer, isAlias, isMap, isScalar, isSeq, Lexer, type Node, type Pair, Parser, type YAMLMap } from 'yaml'
import type { ErrorCode } from '../contract/errors.ts'
import type { Diagnostic, Source } from './diagnostics.ts'

/** What a file may cost us at most. Legitimate files are far below; a hostile one is refused before it is built. */
export const fileLimits = {
  bytes: 1_048_576,
  lines: 100_000,
  depth: 100,
  /** Outside of lists. */
  lexemes: 25_000,
  /** Items of all lists that are fields, or fields of fields: where a sprint is allowed to be long. */
  items: 12_000,
  /** What is more than this in one item counts as if it stood outside. */
  lexemesOfItem: 300,
  lexemesInAll: 400_000,
  aliases: 100,
  /** Nodes that aliases stand for, all together. */
  aliasedNodes: 10_000,
  syntaxErrors: 20,
  /** A longer line is not quoted in a diagnostic. */
  shownLine: 2000,
} as const

export type Path = readonly (string | number)[]

type Within = { readonly text: string }

/** A YAML file as plain data that still knows where each part of it stood. */
export type Parsed = {
  readonly source: Source
  readonly value: unknown
  /** Where the value at `path` stands, its key, or a text within it; if there is none, the nearest thing around it. */
  readonly locate: (path: Path, part?: 'key' | 'value' | Within) => Pick<Diagnostic, 'place' | 'sourceLine'>
}

/** A place in a file: what a diagnostic is about. */
export type At = { readonly parsed: Parsed; readonly path: Path; readonly part?: 'key' | 'value' | Within }

type Found = { readonly code: ErrorCode; readonly message: string; readonly hint?: string }

export const errorAt = ({ parsed, path, part }: At, found: Found): Diagnostic => ({
  severity: 'error',
  ...found,
  ...parsed.locate(path, part),
})

export const warningAt = ({ parsed, path, part }: At, found: Found): Diagnostic => ({
  severity: 'warning',
  ...found,
  ...parsed.locate(path, part),
})

export type ParseResult = { readonly parsed?: Parsed; readonly diagnostics: readonly Diagnostic[] }

/** Reads one YAML document. `code` is the code of everything that keeps it from being data at all. */
export function parse(source: Source, code: ErrorCode): ParseResult {
  const lines = lineIndex(source)
  const fail = ({ offset, message, hint }: Trouble): Diagnostic => ({
    severity: 'error',
    code,
    message,
    ...lines.at(offset),
    ...(hint === undefined ? {} : { hint }),
  })
  if (exceedsBytes(source.text)) return { diagnostics: [fail({ offset: 0, message: 'The file is larger than 1 MiB' })] }
  if (exceedsLines(source.text)) return { diagnostics: [fail({ offset: 0, message: 'The file has too many lines' })] }
  const { document, troubles } = compose(source.text)
  if (troubles.length > 0) return { diagnostics: troubles.map(fail) }
  const { value, nodes, troubles: found } = toValue(document)
  if (found.length > 0) return { diagnostics: found.slice(0, fileLimits.syntaxErrors).map(fail) }
  const locate: Parsed['locate'] = (path, part = 'value') => {
    const offset = offsetOf({ value, nodes, path, part: part === 'key' ? 'key' : 'value' })
    if (typeof part === 'string') return lines.at(offset)
    const inner = source.text.indexOf(part.text, offset)
    return lines.at(inner === -1 ? offset : inner)
  }
  return { parsed: { source, value, locate }, diagnostics: [] }
}

type Trouble = { readonly offset: number; readonly message: string; readonly hint?: string }

/** Strings are UTF-16; a file is measured in UTF-8. */
function exceedsBytes(text: string): boolean {
  if (text.length > fileLimits.bytes) return true
  let bytes = text.length
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit > 0x7f) bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1
  }
  return bytes > fileLimits.bytes
}

function exceedsLines(text: string): boolean {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1 && lines <= fileLimits.lines; at = text.indexOf('\n', at + 1)) lines += 1
  return lines > fileLimits.lines
}

type Composed = { readonly document: Node | null; readonly troubles: readonly Trouble[] }

/** Lexer, parser and composer are driven by hand so that depth and size are judged before anything large is built. */
function compose(text: string): Composed {
  const parser = new Parser()
  const composer = new Composer({ schema: 'core', stringKeys: true, uniqueKeys: false, prettyErrors: false })
  const tokens = []
  const weigh = scale()
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) tokens.push(token)
    if (parser.stack.length > fileLimits.depth) return refuse(parser.offset, 'The file is nested too deeply')
    if (weigh(parser.stack) === 'too-heavy') return refuse(parser.offset, 'The file has too many parts')
  }
  for (const token of parser.end()) tokens.push(token)
  const [document, second] = [...composer.compose(tokens, true, text.length)]
  if (second) return refuse(second.range[0], 'The file contains more than one YAML document')
  const wrong = [...(document?.errors ?? []), ...(document?.warnings ?? [])]
  const troubles = wrong
    .slice(0, fileLimits.syntaxErrors)
    .map(({ pos, message }) => ({ offset: pos[0], message: `Invalid YAML: ${message}` }))
  return { document: document?.contents ?? null, troubles }
}

/** Follows the parser from lexeme to lexeme. A long list of small items is fine; the same amount of anything else is not. */
function scale(): (stack: Parser['stack']) => 'fine' | 'too-heavy' {
  let inAll = 0
  let outside = 0
  let items = 0
  let lexemesOfItem = 0
  let list: unknown
  let length = 0
  return (stack) => {
    inAll += 1
    const [, root, first, second] = stack
    const current = root?.type !== 'block-map' ? undefined : first?.type === 'block-seq' ? first : second
    if (current?.type !== 'block-seq') outside += 1
    else if (current === list && current.items.length === length)
      outside += ++lexemesOfItem > fileLimits.lexemesOfItem ? 1 : 0
    else {
      list = current
      length = current.items.length
      lexemesOfItem = 0
      items += 1
    }
    const { lexemes, items: maxItems, lexemesInAll } = fileLimits
    return outside > lexemes || items > maxItems || inAll > lexemesInAll ? 'too-heavy' : 'fine'
  }
}

const refuse = (offset: number, message: string): Composed => ({ document: null, troubles: [{ offset, message }] })

type Nodes = Map<object, Node>
type Value = { readonly value: unknown; readonly weight: number }

type Conversion = {
  readonly nodes: Nodes
  readonly anchors: Map<string, Value>
  readonly troubles: Trouble[]
  aliases: number
  aliasedNodes: number
}

function toValue(document: Node | null) {
  const conversion: Conversion = { nodes: new Map(), anchors: new Map(), troubles: [], aliases: 0, aliasedNodes: 0 }
  const { value } = convert(document, conversion)
  return { value, nodes: conversion.nodes, troubles: conversion.troubles }
}

const nothing: Value = { value: null, weight: 1 }

function convert(node: unknown, conversion: Conversion): Value {
  if (isAlias(node)) return aliased(node.source, node.range?.[0] ?? 0, conversion)
  if (isScalar(node)) return anchored(node.anchor, { value: scalar(node.value, node.source), weight: 1 }, conversion)
  if (isSeq(node)) {
    const items = node.items.map((item) => convert(item, conversion))
    const value = items.map((item) => item.value)
    conversion.nodes.set(value, node)
    return anchored(node.anchor, { value, weight: total(items) }, conversion)
  }
  if (isMap(node)) return anchored(node.anchor, mapValue(node, conversion), conversion)
  return nothing
}

function mapValue(node: YAMLMap, conversion: Conversion): Value {
  const entries = new Map<string, Value>()
  for (const pair of node.items) {
    const key = keyOf(pair)
    const offset = keyOffset(pair) ?? node.range?.[0] ?? 0
    if (key === '__proto__') conversion.troubles.push({ offset, message: '"__proto__" is not allowed as a key' })
    else if (entries.has(key)) conversion.troubles.push({ offset, message: `The key "${key}" appears twice` })
    else entries.set(key, convert(pair.value, conversion))
  }
  const value = Object.fromEntries([...entries].map(([key, entry]) => [key, entry.value]))
  conversion.nodes.set(value, node)
  return { value, weight: total([...entries.values()]) }
}

const total = (values: readonly Value[]): number => values.reduce((sum, { weight }) => sum + weight, 1)

function aliased(name: string, offset: number, conversion: Conversion): Value {
  const target = conversion.anchors.get(name)
  const trouble = (message: string): Value => {
    conversion.troubles.push({ offset, message })
    return nothing
  }
  if (!target) return trouble(`The alias "*${name}" has no anchor before it`)
  conversion.aliases += 1
  conversion.aliasedNodes += target.weight
  if (conversion.aliases === fileLimits.aliases + 1) return trouble('The file uses too many aliases')
  if (conversion.aliasedNodes > fileLimits.aliasedNodes) {
    conversion.aliasedNodes = Number.NEGATIVE_INFINITY
    return trouble('The aliases of the file stand for too much')
  }
  return target
}

function anchored(name: string | undefined, value: Value, { anchors }: Conversion): Value {
  if (name !== undefined) anchors.set(name, value)
  return value
}

function scalar(value: unknown, source: string | undefined): unknown {
  if (value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
    return value
  return source ?? null
}

/** `stringKeys` makes every key a text. */
const keyOf = ({ key }: Pair): string => (isScalar(key) && typeof key.value === 'string' ? key.value : '')

const keyOffset = ({ key }: Pair): number | undefined => (isScalar(key) ? key.range?.[0] : undefined)

type Wanted = {
  readonly value: unknown
  readonly nodes: Nodes
  readonly path: Path
  readonly part: 'key' | 'value'
}

function offsetOf({ value, nodes, path, part }: Wanted): number {
  let current = value
  let offset = typeof value === 'object' && value !== null ? startOf(nodes.get(value)) : 0
  for (const [index, segment] of path.entries()) {
    if (typeof current !== 'object' || current === null) return offset
    const node = nodes.get(current)
    if (isSeq(node) && typeof segment === 'number') {
      offset = startOf(node.items[segment]) || offset
    } else if (isMap(node)) {
      const pair = node.items.find((item) => keyOf(item) === segment)
      if (!pair) return offset
      const key = keyOffset(pair) ?? offset
      offset = part === 'key' && index === path.length - 1 ? key : startOf(pair.value) || key
    }
    current = Object.hasOwn(current, segment) ? Reflect.get(current, segment) : undefined
  }
  return offset
}

const startOf = (node: unknown): number =>
  isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0

function lineIndex({ file, text }: Source) {
  let starts: number[] | undefined
  return {
    at(offset: number): Pick<Diagnostic, 'place' | 'sourceLine'> {
      starts ??= lineStarts(text)
      let low = 0
      let high = starts.length - 1
      while (low < high) {
        const middle = (low + high + 1) >> 1
        if ((starts[middle] ?? 0) <= offset) low = middle
        else high = middle - 1
      }
      const start = starts[low] ?? 0
      const end = text.indexOf('\n', start)
      const place = { file, line: low + 1, column: offset - start + 1 }
      const sourceLine = text.slice(start, end === -1 ? text.length : end).replace(/\r$/, '')
      return sourceLine.length > fileLimits.shownLine ? { place } : { place, sourceLine }
    },
  }
}

function lineStarts(text: string): number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) starts.push(at + 1)
  return starts
}
