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
