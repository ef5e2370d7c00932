import { join, resolve } from 'node:path'
import { exists, isLink, readPlainText, readTextIfExists, removeFolder } from '../../platform/files/files.ts'
import { createLink, readLink } from '../../platform/files/links.ts'
import { writeScratch } from '../../platform/files/scratch-files.ts'
import type { Driver, ObeyedValues } from '../drivers/driver.ts'
import { homeFolder, isNeverMade } from './places.ts'

/** What the user's own sessions of an agent program obey, as it was before an attempt. */
type Snapshot = {
  /** Settings that cannot be covered, because they did not exist and an empty one would change what the program does. */
  readonly absent: readonly string[]
  /** Links of the user and where they lead: what they lead to is covered, they are not. */
  readonly links: Readonly<Record<string, string>>
  readonly obeyed?: (ObeyedValues & { readonly before: Picked }) | undefined
}

type JsonObject = Readonly<Record<string, unknown>>
/** Values by the object that has them: `` for the file itself, `projects/<name>` for one within. */
type Picked = Readonly<Record<string, JsonObject>>

const snapshotPath = (base: string): string => join(base, 'agent-settings.json')

/** Call it before the attempt. A Ralph that joins the attempt keeps the first one. */
export async function recordSettings(
  base: string,
  driver: Pick<Driver, 'settings' | 'obeyed'> | undefined,
  env: Readonly<Record<string, string>>,
): Promise<void> {
  if (driver === undefined || exists(snapshotPath(base))) return
  const at = (path: string) => resolve(homeFolder(env), path)
  const settings = (driver.settings?.(env) ?? []).map(at)
  const absent = settings.filter((path) => isNeverMade(path) && !exists(path))
  const links = Object.fromEntries(
    settings.flatMap((path) => {
      const target = readLink(path)
      return target === undefined ? [] : [[path, target]]
    }),
  )
  const values = driver.obeyed?.(env)
  const obeyed = values && { ...values, file: at(values.file), before: pick(readJson(at(values.file)) ?? {}, values) }
  await writeScratch(snapshotPath(base), JSON.stringify({ absent, links, obeyed } satisfies Snapshot))
}

/** Undoes what an attempt changed. Resolves with one line for each. */
export async function restoreSettings(base: string): Promise<string[]> {
  const saved = await readTextIfExists(snapshotPath(base))
  if (saved === undefined) return []
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes it, where no agent can
  const { absent, links, obeyed } = JSON.parse(saved) as Snapshot
  const planted = absent.filter((path) => exists(path) || isLink(path))
  for (const path of planted) await removeFolder(path)
  const replaced = Object.entries(links).filter(([path, target]) => readLink(path) !== target)
  for (const [path, target] of replaced) await createLink(target, path)
  const lines = [
    ...planted.map((path) => `removed ${path}, which your own sessions would obey`),
    ...replaced.map(([path]) => `put back the link ${path}, which your own sessions obey`),
  ]
  const now = obeyed && readJson(obeyed.file)
  if (!obeyed || !now) return lines
  const changed = changedKeys(obeyed.before, pick(now, obeyed))
  if (changed.length === 0) return lines
  await writeScratch(obeyed.file, `${JSON.stringify(putBack(now, obeyed), undefined, 2)}\n`)
  return [...lines, `put back ${changed.join(', ')} in ${obeyed.file}, which your own sessions obey`]
}

function readJson(path: string): JsonObject | undefined {
  try {
    const found: unknown = JSON.parse(readPlainText(path) ?? '{}')
    return isObject(found) ? found : undefined
  } catch {
    return undefined
  }
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The program itself writes empty values, which mean the same as none. */
const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0)

function pick(file: JsonObject, { keys, within }: ObeyedValues): Picked {
  const own = (object: JsonObject): JsonObject =>
    Object.fromEntries(keys.flatMap((key) => (isEmpty(object[key]) ? [] : [[key, object[key]]])))
  const inner = within.flatMap((name) => {
    const objects = file[name]
    return isObject(objects) ? Object.entries(objects).map(([key, value]) => [`${name}/${key}`, value] as const) : []
  })
  const all = [['', file] as const, ...inner]
  return Object.fromEntries(all.flatMap(([name, value]) => (isObject(value) ? [[name, own(value)]] : [])))
}

function changedKeys(before: Picked, now: Picked): string[] {
  const changed = Object.entries(now).flatMap(([name, values]) => {
    const old = before[name] ?? {}
    const keys = new Set([...Object.keys(old), ...Object.keys(values)])
    return [...keys].filter((key) => JSON.stringify(old[key]) !== JSON.stringify(values[key]))
  })
  return [...new Set(changed)]
}

function putBack(file: JsonObject, { keys, within, before }: NonNullable<Snapshot['obeyed']>): JsonObject {
  const repair = (object: JsonObject, old: JsonObject = {}): JsonObject => {
    const others = Object.entries(object).filter(([key]) => !keys.includes(key))
    return { ...Object.fromEntries(others), ...old }
  }
  const inner = within.flatMap((name) => {
    const objects = file[name]
    if (!isObject(objects)) return []
    const repaired = Object.entries(objects).map(([key, value]) => [
      key,
      isObject(value) ? repair(value, before[`${name}/${key}`]) : value,
    ])
    return [[name, Object.fromEntries(repaired)]]
  })
  return { ...repair(file, before['']), ...Object.fromEntries(inner) }
}
