import { dirname, join } from 'node:path'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import {
  createFolder,
  isLink,
  listFolder,
  readTextIfExists,
  removeEmptyFolder,
  removeFile,
} from '../../platform/files/files.ts'
import { pluginPath } from '../io/assets.ts'
import type { Io } from '../io/io.ts'
import { markManaged, readManagedState, type ManagedState } from './managed-file.ts'

export type PluginScope = 'project' | 'user'

export type PluginFile = {
  readonly path: string
  /** As typed in Claude Code; a skill has none. */
  readonly command: string | undefined
  readonly text: string
  readonly state: ManagedState
}

/** Claude Code has its own `/help`, which no file of the user overrides. */
const builtIn = new Set(['help.md'])

/** The short commands and skills of the plugin, each with the state of its file in `.claude`. */
export async function readPluginFiles(scope: PluginScope, io: Pick<Io, 'cwd' | 'env'>): Promise<PluginFile[]> {
  const commands = (await listFolder(pluginPath('commands'))).filter((name) => !builtIn.has(name))
  const skills = await listFolder(pluginPath('skills'))
  const names = [...commands.map((name) => `commands/${name}`), ...skills.map((name) => `skills/${name}/SKILL.md`)]
  return Promise.all(names.toSorted().map((name) => readPluginFile(name, join(claudeFolder(scope, io), name))))
}

/** Claude Code reads the user's commands from here. An empty variable counts as unset. */
const claudeFolder = (scope: PluginScope, { cwd, env }: Pick<Io, 'cwd' | 'env'>): string =>
  scope === 'project' ? join(cwd, '.claude') : env['CLAUDE_CONFIG_DIR'] || join(env['HOME'] || '/', '.claude')

async function readPluginFile(name: string, path: string): Promise<PluginFile> {
  const text = (await readTextIfExists(pluginPath(name))) ?? ''
  const command = /^commands\/(.+)\.md$/.exec(name)?.[1]
  // The target of a link belongs to the user, whatever it contains.
  const state = isLink(path) ? 'foreign' : readManagedState(await readTextIfExists(path), text)
  return { path, command: command === undefined ? undefined : `/${command}`, text, state }
}

export async function writePluginFile({ path, text }: PluginFile): Promise<void> {
  await createFolder(dirname(path))
  await writeFileAtomic(path, markManaged(text))
}

/** Also removes the folders that the installation left empty. */
export async function removePluginFile({ path, command }: PluginFile): Promise<void> {
  await removeFile(path)
  const folder = dirname(path)
  if (removeEmptyFolder(folder) && command === undefined) removeEmptyFolder(dirname(folder))
}
