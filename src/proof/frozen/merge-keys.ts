import { parse as parseToml, stringify as stringifyToml } from 'smol-toml'
import type { KeyRule } from './frozen-table.ts'
import { mergeGoMod } from './merge-go-mod.ts'

/** The texts of one manifest; undefined where it is not there. */
export type Manifests = { readonly before: string | undefined; readonly after: string | undefined }

type Table = { [key: string]: unknown }
type Format = { readonly parse: (text: string) => unknown; readonly print: (value: Table) => string }

const json: Format = {
  parse: (text) => JSON.parse(text.replace(/^\uFEFF/, '')),
  print: (value) => `${JSON.stringify(value, null, 2)}\n`,
}
const toml: Format = {
  parse: (text) => parseToml(text),
  print: (value) => `${stringifyToml(value)}\n`,
}

/** The agent's manifest with the frozen keys of the baseline. Undefined: the agent's text can stay as it is. */
export function freezeKeys(path: string, { before, after }: Manifests, rule: KeyRule): string | undefined {
  if (after === undefined) return before
  if (path.endsWith('go.mod'))
    return before === undefined ? undefined : changed(after, mergeGoMod(after, before, rule.frozen))
  const format = path.endsWith('.toml') ? toml : json
  const [old, now] = [read(format, before), read(format, after)]
  if (now === undefined) return before ?? '{}\n'
  const merged = structuredClone(now)
  if (old !== undefined) for (const key of rule.frozen) if (key !== 'scripts') takeKey(merged, old, key.split('.'))
  if (format === json && rule.frozen.includes('scripts')) freezeScripts(merged, old)
  return same(merged, now) ? undefined : format.print(merged)
}

/** Without these, code beside the first manifest may not even load. */
const neededKeys = [
  'type',
  'build-system',
  ...['tool.pytest', 'tool.pytest.ini_options'].flatMap((table) => [`${table}.pythonpath`, `${table}.testpaths`]),
]

/** A new manifest without what would change how tests of the start run. `isFirst`: the start had no manifest at all. */
export function freezeNew(path: string, after: string, rule: KeyRule, isFirst: boolean): string | undefined {
  if (path.endsWith('go.mod')) return changed(after, mergeGoMod(after, '', ['replace', 'exclude', 'toolchain']))
  const format = path.endsWith('.toml') ? toml : json
  const kept: Table = {}
  const now = read(format, after)
  if (isFirst && now !== undefined) for (const key of neededKeys) takeKey(kept, now, key.split('.'))
  return freezeKeys(path, { before: format.print(kept), after }, rule)
}

/** The baseline's manifest with the dependencies of the claim, for runs of new tests on old code. */
export function takeDependencies(path: string, { before, after }: Manifests, rule: KeyRule): string | undefined {
  if (before === undefined || after === undefined) return undefined
  if (path.endsWith('go.mod')) return changed(before, mergeGoMod(before, after, rule.dependencies))
  const format = path.endsWith('.toml') ? toml : json
  const [old, now] = [read(format, before), read(format, after)]
  if (old === undefined || now === undefined) return undefined
  const merged = structuredClone(old)
  for (const key of rule.dependencies) takeKey(merged, now, key.split('.'))
  return same(merged, old) ? undefined : format.print(merged)
}

/**
 * The manifest with what others load by the package's name as it was: tests of the start that load it get the same file as
 * before. New paths of `exports` stay. Undefined: nothing differs, or a file that was loaded has moved (`isGone`).
 */
export function restoreEntries(
  path: string,
  { before, after }: Manifests,
  { entries }: KeyRule,
  isGone: (target: string) => boolean,
): string | undefined {
  const format = path.endsWith('.toml') ? toml : json
  const [old, now] = [read(format, before), read(format, after)]
  if (old === undefined || now === undefined) return undefined
  const merged = structuredClone(now)
  for (const key of entries) takeKey(merged, old, key.split('.'))
  if (entries.some((key) => listTargets(old[key]).some(isGone))) return undefined
  const [was, is] = [old['exports'], now['exports']]
  if (was !== undefined && isPathTable(is)) {
    const paths = isPathTable(was) ? was : { '.': was }
    define(merged, 'exports', { ...is, ...paths })
  }
  return same(merged, now) ? undefined : format.print(merged)
}

const isPathTable = (value: unknown): value is Table =>
  isTable(value) && Object.keys(value).some((key) => key.startsWith('.'))

const listTargets = (value: unknown): string[] =>
  typeof value === 'string' ? [value] : isTable(value) ? Object.values(value).flatMap(listTargets) : []

/** What a package.json offers to others and starts; `imports` leads only to what the project itself loads. */
export function listEntries(text: string): string[] {
  const manifest = read(json, text)
  return ['main', 'module', 'browser', 'exports', 'bin'].flatMap((key) => listTargets(manifest?.[key]))
}

const changed = (from: string, to: string): string | undefined => (from === to ? undefined : to)

function read(format: Format, text: string | undefined): Table | undefined {
  if (text === undefined) return undefined
  try {
    const value = format.parse(text)
    return isTable(value) ? value : undefined
  } catch {
    return undefined
  }
}

const isTable = (value: unknown): value is Table => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Ignores key order and comments; compares TOML dates as text. */
const same = (one: unknown, other: unknown): boolean => JSON.stringify(sorted(one)) === JSON.stringify(sorted(other))

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (typeof value === 'bigint') return String(value)
  if (!isTable(value) || value instanceof Date) return value
  return Object.fromEntries(
    Object.entries(value)
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, each]) => [key, sorted(each)]),
  )
}

/** Copies a key from `from` to `onto`, or deletes it if `from` has none. Matches lists of tables by name. */
function takeKey(onto: Table, from: Table | undefined, [key = '', ...rest]: readonly string[]): void {
  const value = from !== undefined && Object.hasOwn(from, key) ? from[key] : undefined
  if (rest.length === 0) {
    if (value === undefined) delete onto[key]
    else define(onto, key, structuredClone(value))
    return
  }
  const target = Object.hasOwn(onto, key) ? onto[key] : undefined
  if (Array.isArray(target)) {
    const items: unknown[] = Array.isArray(value) ? value : []
    for (const item of target.filter(isTable))
      takeKey(
        item,
        items.filter(isTable).find((one) => one['name'] === item['name']),
        rest,
      )
    return
  }
  const below = isTable(value) ? value : undefined
  if (isTable(target)) takeKey(target, below, rest)
  else if (below !== undefined) {
    const fresh: Table = {}
    takeKey(fresh, below, rest)
    if (Object.keys(fresh).length > 0) define(onto, key, fresh)
  }
}

/** An assignment to `__proto__` would not make a key. */
const define = (onto: Table, key: string, value: unknown): void =>
  void Object.defineProperty(onto, key, { value, enumerable: true, configurable: true, writable: true })

const lifecycle = new Set([
  'preinstall',
  'install',
  'postinstall',
  'prepare',
  'prepublish',
  'preprepare',
  'postprepare',
])

/** Old scripts as they were. New ones stay, but for those that npm would run around an old one or at an install. */
function freezeScripts(merged: Table, old: Table | undefined): void {
  const before = isTable(old?.['scripts']) ? old['scripts'] : {}
  const after = isTable(merged['scripts']) ? merged['scripts'] : {}
  const kept = Object.entries(after).filter(([name]) => {
    const around = /^(?:pre|post)(.+)$/.exec(name)?.[1]
    return !lifecycle.has(name) && !(around !== undefined && (Object.hasOwn(before, around) || around === 'test'))
  })
  const scripts = { ...Object.fromEntries(kept), ...before }
  if (Object.keys(scripts).length > 0 || Object.hasOwn(merged, 'scripts')) define(merged, 'scripts', scripts)
}
