import { join } from 'node:path'
import {
  exists,
  fileSignature,
  listFolder,
  modifiedAt,
  readTextIfExists,
  writeNewFile,
} from '../../platform/files/files.ts'
import { defaultSprintId, progressPath } from './sprint-folder.ts'
import { importSeedProgress, isSeedProgress, type SeedImport } from '../seed/seed-progress.ts'
import { parseYaml } from './parse-yaml.ts'

/** The PROGRESS.yaml of another program as it is on disk, and what Ralph makes of it. */
export type SeedFile = SeedImport & {
  readonly text: string
  /** Of the file when it was read. */
  readonly signature: string | undefined
}

/** What an import did, for the user. */
export type ImportReport = { readonly copy: string; readonly notes: readonly string[] }

/** Reads a PROGRESS.yaml of the seed systems; undefined if there is none, or if it is Ralph's own. Writes nothing. */
export async function readSeedFile(sprintDir: string): Promise<SeedFile | undefined> {
  const file = progressPath(sprintDir)
  const signature = fileSignature(file)
  const text = await readTextIfExists(file)
  if (text === undefined || ownField.test(text)) return undefined
  const value = parseQuietly(text)
  if (!isSeedProgress(value)) return undefined
  const at = Math.round(modifiedAt(file) ?? 0)
  const context = { sprintId: defaultSprintId(sprintDir, at), at, lastTranscript: await findLastTranscript(sprintDir) }
  return { ...importSeedProgress(value, context), text, signature }
}

/** Only Ralph's own file has this field, so a long one need not be parsed twice. */
const ownField = /^schema-version:/m

/** A file that is no YAML is reported by the reader of Ralph's own format. */
function parseQuietly(text: string): unknown {
  try {
    return parseYaml(text)
  } catch {
    return undefined
  }
}

async function findLastTranscript(sprintDir: string): Promise<number> {
  const names = await listFolder(join(sprintDir, 'transcripts'))
  return Math.max(0, ...names.map((name) => Number(/^iteration-(\d{1,6})\.jsonl$/.exec(name)?.[1] ?? 0)))
}

/** Keeps the file as it was: Ralph writes its own in its place. */
export async function keepSeedFile(sprintDir: string, { text, notes }: SeedFile): Promise<ImportReport> {
  const base = `${progressPath(sprintDir)}.imported`
  let path = base
  for (let n = 2; exists(path); n++) {
    if ((await readTextIfExists(path)) === text) return { copy: path, notes }
    path = `${base}-${n}`
  }
  await writeNewFile(path, text)
  return { copy: path, notes }
}
