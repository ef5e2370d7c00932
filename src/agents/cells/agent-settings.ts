import { join, resolve } from 'node:path'
import {
  exists,
  existsItself,
  isLink,
  readPlainText,
  readTextIfExists,
  removeFolder,
} from '../../platform/files/files.ts'
import { createLink, readLink } from '../../platform/files/links.ts'
import { writeScratch } from '../../platform/files/scratch-files.ts'
import type { Driver, ProtectedValues } from '../drivers/driver.ts'
import { moveAside } from './git/move-aside.ts'
import { homeFolder, listSettings, mustNotCreate, projectSettings } from './places.ts'

/** Settings that take effect in the user's own sessions of an agent program, as they were before an attempt. */
type Snapshot = {
  /** Settings files that did not exist. No mount can protect them: an empty placeholder would change what the program does. */
  readonly absent: readonly string[]
  /** The user's links and their targets. The mount protects the target, not the link. */
  readonly links: Readonly<Record<string, string>>
  readonly protectedValues?: (ProtectedValues & { readonly originalValues: ValuesByObject }) | undefined
  /** Settings in the project that did not exist. An earlier version does not list them. */
  readonly absentInProject?: readonly string[]
}

/** The names in snapshots of earlier versions, whose attempts may end under this one. */
type OldSnapshot = Omit<Snapshot, 'protectedValues'> & {
  readonly obeyed?: ProtectedValues & { readonly before: ValuesByObject }
}

type JsonObject = Readonly<Record<string, unknown>>
/** Protected values by the path of their object: `` for the file itself, `projects/<name>` for a nested object. */
type ValuesByObject = Readonly<Record<string, JsonObject>>

const snapshotPath = (base: string): string => join(base, 'agent-settings.json')

/** Call it before the attempt. A Ralph process that resumes the attempt keeps the existing snapshot. */
export async function recordSettings(base: string, { driver, env, cwd }: SettingsPlace): Promise<void> {
  if (exists(snapshotPath(base))) return
  const at = (path: string) => resolve(homeFolder(env), path)
  const settings = await listSettings(driver, env, homeFolder(env))
  const absent = settings.filter((path) => mustNotCreate(path) && !exists(path))
  const links = Object.fromEntries(
    settings.flatMap((path) => {
      const target = readLink(path)
      return target === undefined ? [] : [[path, target]]
    }),
  )
  const values = driver?.protectedValues?.(env)
  const protectedValues = values && {
    ...values,
    file: at(values.file),
    originalValues: readProtectedValues(readJson(at(values.file)) ?? {}, values),
  }
  const absentInProject = projectSettings.map((name) => join(cwd, name)).filter((path) => !existsItself(path))
  const snapshot: Snapshot = { absent, links, protectedValues, absentInProject }
  await writeScratch(snapshotPath(base), JSON.stringify(snapshot))
}

export type SettingsPlace = {
  /** None for checks and hooks. */
  readonly driver?: Pick<Driver, 'settings' | 'protectedValues'> | undefined
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
}

/** Reverts what an attempt changed in these settings. Resolves with one message per change, for the user. */
export async function restoreSettings(base: string): Promise<string[]> {
  const saved = await readTextIfExists(snapshotPath(base))
  if (saved === undefined) return []
  const { absent, links, protectedValues, absentInProject = [] } = parseSnapshot(saved)
  const createdByAgent = absent.filter((path) => exists(path) || isLink(path))
  for (const path of createdByAgent) await removeFolder(path)
  const replaced = Object.entries(links).filter(([path, target]) => readLink(path) !== target)
  for (const [path, target] of replaced) await createLink(target, path)
  const moved: string[] = []
  for (const path of absentInProject.filter(existsItself))
    moved.push(`${await moveAside(path)}: it is new, and your own sessions would start what it names`)
  const lines = [
    ...moved,
    ...createdByAgent.map((path) => `removed ${path}, which would have changed your own sessions`),
    ...replaced.map(([path]) => `restored the link ${path}, which your own sessions use`),
  ]
  const now = protectedValues && readJson(protectedValues.file)
  if (!protectedValues || !now) return lines
  const changed = findChangedKeys(protectedValues.originalValues, readProtectedValues(now, protectedValues))
  if (changed.length === 0) return lines
  await writeScratch(protectedValues.file, `${JSON.stringify(restoreValues(now, protectedValues), undefined, 2)}\n`)
  return [...lines, `restored ${changed.join(', ')} in ${protectedValues.file}, which your own sessions use`]
}

function parseSnapshot(saved: string): Snapshot {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this file writes it, where no agent can
  const snapshot = JSON.parse(saved) as Snapshot | OldSnapshot
  if (!('obeyed' in snapshot) || !snapshot.obeyed) return snapshot
  const { obeyed, ...others } = snapshot
  return { ...others, protectedValues: { ...obeyed, originalValues: obeyed.before } }
}

/** Returns {} if the file is missing, undefined if it is not a JSON object. */
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

/** The program itself writes `false`, `null` and empty objects, which mean the same as no value. */
const isUnset = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === false ||
  (typeof value === 'object' && Object.keys(value).length === 0)

function readProtectedValues(file: JsonObject, { keys, within }: ProtectedValues): ValuesByObject {
  const own = (object: JsonObject): JsonObject =>
    Object.fromEntries(keys.flatMap((key) => (isUnset(object[key]) ? [] : [[key, object[key]]])))
  const inner = within.flatMap((name) => {
    const objects = file[name]
    return isObject(objects) ? Object.entries(objects).map(([key, value]) => [`${name}/${key}`, value] as const) : []
  })
  const all = [['', file] as const, ...inner]
  return Object.fromEntries(all.flatMap(([name, value]) => (isObject(value) ? [[name, own(value)]] : [])))
}

function findChangedKeys(originalValues: ValuesByObject, now: ValuesByObject): string[] {
  const changed = Object.entries(now).flatMap(([name, values]) => {
    const old = originalValues[name] ?? {}
    const keys = new Set([...Object.keys(old), ...Object.keys(values)])
    return [...keys].filter((key) => JSON.stringify(old[key]) !== JSON.stringify(values[key]))
  })
  return [...new Set(changed)]
}

function restoreValues(
  file: JsonObject,
  { keys, within, originalValues }: NonNullable<Snapshot['protectedValues']>,
): JsonObject {
  const repair = (object: JsonObject, old: JsonObject = {}): JsonObject => {
    const others = Object.entries(object).filter(([key]) => !keys.includes(key))
    return { ...Object.fromEntries(others), ...old }
  }
  const inner = within.flatMap((name) => {
    const objects = file[name]
    if (!isObject(objects)) return []
    const repaired = Object.entries(objects).map(([key, value]) => [
      key,
      isObject(value) ? repair(value, originalValues[`${name}/${key}`]) : value,
    ])
    return [[name, Object.fromEntries(repaired)]]
  })
  return { ...repair(file, originalValues['']), ...Object.fromEntries(inner) }
}
