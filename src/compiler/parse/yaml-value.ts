import { isAlias, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import { fileLimits, type YamlProblem } from './yaml-document.ts'

export type Path = readonly (string | number)[]

export type YamlValue = {
  readonly value: unknown
  readonly troubles: readonly YamlProblem[]
  /** Offset of the value at `path`, or of its key; falls back to the nearest enclosing value. */
  readonly getOffset: (path: Path, part: 'key' | 'value') => number
}

/**
 * Converts nodes to plain data and remembers the position of each part. The nodes are dropped: they are many times larger than
 * the data.
 */
export function toValue(document: Node | null): YamlValue {
  const conversion: Conversion = {
    positions: new Map(),
    anchors: new Map(),
    troubles: [],
    nodes: 0,
    aliases: 0,
    aliasedNodes: 0,
  }
  const value = convert(document, conversion)
  const { positions, troubles } = conversion
  return { value, troubles, getOffset: (path, part) => findOffset({ value, positions, path, part }) }
}

/** For a list: offsets of its items. For a map: its keys, their offsets, and the offsets of their values. */
type ValuePosition =
  | { readonly start: number; readonly items: readonly number[] }
  | { readonly start: number; readonly keys: string[]; readonly keyAt: number[]; readonly valueAt: number[] }

type Conversion = {
  readonly positions: Map<object, ValuePosition>
  readonly anchors: Map<string, { readonly value: unknown; readonly weight: number }>
  readonly troubles: YamlProblem[]
  /** Nodes so far, including those that aliases refer to. */
  nodes: number
  aliases: number
  aliasedNodes: number
}

function convert(node: unknown, conversion: Conversion): unknown {
  if (isAlias(node)) return resolveAlias(node.source, readStart(node), conversion)
  const before = conversion.nodes++
  const value = isScalar(node)
    ? scalarValue(node.value, node.source)
    : isSeq(node)
      ? listValue(node, conversion)
      : isMap(node)
        ? mapValue(node, conversion)
        : null
  if ((isScalar(node) || isSeq(node) || isMap(node)) && node.anchor !== undefined)
    conversion.anchors.set(node.anchor, { value, weight: conversion.nodes - before })
  return value
}

function scalarValue(value: unknown, source: string | undefined): unknown {
  const plain = value === null || typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
  return plain ? value : (source ?? null)
}

function listValue(node: YAMLSeq, conversion: Conversion): unknown[] {
  const value = node.items.map((item) => convert(item, conversion))
  conversion.positions.set(value, { start: readStart(node), items: node.items.map(readStart) })
  return value
}

function mapValue(node: YAMLMap, conversion: Conversion): object {
  const value: Record<string, unknown> = {}
  const position = { start: readStart(node), keys: [] as string[], keyAt: [] as number[], valueAt: [] as number[] }
  for (const pair of node.items) {
    const key = readKey(pair)
    const offset = readStart(pair.key)
    if (key === '__proto__') conversion.troubles.push({ offset, message: '"__proto__" is not allowed as a key' })
    else if (Object.hasOwn(value, key)) conversion.troubles.push({ offset, message: `The key "${key}" appears twice` })
    else {
      value[key] = convert(pair.value, conversion)
      position.keys.push(key)
      position.keyAt.push(offset)
      position.valueAt.push(readStart(pair.value) || offset)
    }
  }
  conversion.positions.set(value, position)
  return value
}

/** `stringKeys` makes every key a string. */
const readKey = ({ key }: Pair): string => (isScalar(key) && typeof key.value === 'string' ? key.value : '')

const readStart = (node: unknown): number =>
  isScalar(node) || isMap(node) || isSeq(node) || isAlias(node) ? (node.range?.[0] ?? 0) : 0

/** Aliases share one value in memory, but every traversal of the data visits it again, so its size counts each time. */
function resolveAlias(name: string, offset: number, conversion: Conversion): unknown {
  const { anchors, troubles } = conversion
  const target = anchors.get(name)
  conversion.aliases += 1
  conversion.aliasedNodes += target?.weight ?? 0
  conversion.nodes += target?.weight ?? 1
  if (!target) troubles.push({ offset, message: `The alias "*${name}" has no anchor before it` })
  if (conversion.aliases === fileLimits.aliases + 1)
    troubles.push({ offset, message: 'The file uses too many aliases' })
  if (conversion.aliasedNodes <= fileLimits.aliasedNodes) return target?.value ?? null
  conversion.aliasedNodes = Number.NEGATIVE_INFINITY
  troubles.push({ offset, message: 'The aliases of the file expand to too many nodes' })
  return null
}

type OffsetQuery = {
  readonly value: unknown
  readonly positions: ReadonlyMap<object, ValuePosition>
  readonly path: Path
  readonly part: 'key' | 'value'
}

function findOffset({ value, positions, path, part }: OffsetQuery): number {
  let current = value
  let offset = typeof value === 'object' && value !== null ? (positions.get(value)?.start ?? 0) : 0
  for (const [index, segment] of path.entries()) {
    if (typeof current !== 'object' || current === null) return offset
    const position = positions.get(current)
    if (!position) return offset
    if ('items' in position) offset = position.items[Number(segment)] ?? offset
    else {
      const at = position.keys.indexOf(String(segment))
      if (at === -1) return offset
      const offsets = part === 'key' && index === path.length - 1 ? position.keyAt : position.valueAt
      offset = offsets[at] ?? offset
    }
    current = Object.hasOwn(current, segment) ? Reflect.get(current, segment) : undefined
  }
  return offset
}
