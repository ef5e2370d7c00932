import { parse as parseToml, stringify as stringifyToml } from 'smol-toml'
import { posix } from 'node:path'
import type { Manifests } from './merge-keys.ts'

type Table = { [key: string]: unknown }

/**
 * The manifest for runs of the tests of the start, which need nothing that exists for new tests alone: no script of a new
 * package, unless the start has the same one, and no crate of the project that only tests depend on. Undefined: it can stay.
 */
export function limitToOldTests(
  path: string,
  { before, after }: Manifests,
  knownScripts: ReadonlySet<string>,
): string | undefined {
  const name = posix.basename(path)
  if (after === undefined) return undefined
  if (name === 'package.json') return before === undefined ? silenceScripts(after, knownScripts) : undefined
  return name === 'Cargo.toml' ? restoreTestCrates(before, after) : undefined
}

/** The commands of all scripts of a package.json. */
export const listScripts = (text: string): string[] =>
  Object.values(readScripts(readJson(text))).filter((script) => typeof script === 'string')

function silenceScripts(text: string, known: ReadonlySet<string>): string | undefined {
  const manifest = readJson(text)
  const scripts = Object.entries(readScripts(manifest))
  if (manifest === undefined || scripts.every(([, script]) => known.has(String(script)))) return undefined
  const silent = scripts.map(([name, script]) => [name, known.has(String(script)) ? script : 'exit 0'])
  return `${JSON.stringify({ ...manifest, scripts: Object.fromEntries(silent) }, null, 2)}\n`
}

const readScripts = (manifest: Table | undefined): Table => (isTable(manifest?.['scripts']) ? manifest['scripts'] : {})

/** A build script and the features that a crate asks for act on the code of others. */
function restoreTestCrates(before: string | undefined, after: string): string | undefined {
  const now = readToml(after)
  if (now === undefined) return undefined
  const old = readToml(before ?? '')
  const text = stringifyToml(now)
  const places = [now, ...Object.values(isTable(now['target']) ? now['target'] : {})].filter(isTable)
  const oldPlaces = [old, ...Object.values(isTable(old?.['target']) ? old['target'] : {})].filter(isTable)
  for (const place of places) restoreCrates(place, oldPlaces)
  if (before === undefined && isTable(now['package'])) delete now['package']['build']
  const limited = stringifyToml(now)
  return limited === text ? undefined : `${limited}\n`
}

function restoreCrates(place: Table, oldPlaces: readonly Table[]): void {
  const crates = place['dev-dependencies']
  if (!isTable(crates)) return
  for (const [name, crate] of Object.entries(crates)) {
    if (!isTable(crate) || !('path' in crate || crate['workspace'] === true)) continue
    const known = oldPlaces.flatMap((old) => (isTable(old['dev-dependencies']) ? [old['dev-dependencies'][name]] : []))
    if (known.some((one) => JSON.stringify(one) === JSON.stringify(crate))) continue
    const [first] = known.filter((one) => one !== undefined)
    if (first === undefined) delete crates[name]
    else crates[name] = first
  }
}

function readJson(text: string): Table | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isTable(value) ? value : undefined
  } catch {
    return undefined
  }
}

function readToml(text: string): Table | undefined {
  try {
    return parseToml(text)
  } catch {
    return undefined
  }
}

const isTable = (value: unknown): value is Table => typeof value === 'object' && value !== null && !Array.isArray(value)
