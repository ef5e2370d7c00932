import { dirname, join } from 'node:path'
import { createFolder, exists, readTextIfExists, removeFile } from '../../platform/files/files.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { git } from '../../platform/git.ts'
import { resolveGitFolders, type Repository } from './repositories.ts'

/**
 * Files are stored byte for byte: no line-ending conversion, no filter, no encoding. `info/attributes` of the private git folder
 * overrides every `.gitattributes` file, so that no filter the agent configured runs, and a restored file is what it was.
 */
const attributes = '* -text -ident -filter -working-tree-encoding\n'

export type PrivateCommand = {
  readonly args: readonly string[]
  readonly input?: string
  readonly isBinary?: boolean
  /** Called with what git printed to stderr. */
  readonly onWarning?: (text: string) => void
}

/**
 * Runs git on a work tree with a git folder of Ralph's own: its configuration, attributes and index, the user's objects. Commands
 * that read or write files use it, so that nothing in the repository's configuration can run a program or change content.
 */
export async function privateGit(repository: Repository, { args, ...more }: PrivateCommand): Promise<string> {
  const { root, index } = repository
  const gitDir = `${index}.git`
  const { common } = resolveGitFolders(root)
  await preparePrivateGit(repository)
  return git({ cwd: root, index, gitDir, objects: join(common, 'objects'), ...more }, ...args)
}

/** Needed before two calls at the same time. */
export async function preparePrivateGit(repository: Repository): Promise<void> {
  const gitDir = `${repository.index}.git`
  await prepareGitFolder(repository, gitDir)
  await copyExcludes(join(resolveGitFolders(repository.root).common, 'info', 'exclude'), gitDir)
}

async function prepareGitFolder({ root, index }: Repository, gitDir: string): Promise<void> {
  // Only one run at a time uses this index, so a lock is left over from a killed one.
  await removeFile(`${index}.lock`)
  if (!exists(join(gitDir, 'info', 'attributes'))) {
    await createFolder(dirname(gitDir))
    const format = await git({ cwd: root }, 'rev-parse', '--show-object-format')
    await git({ cwd: dirname(gitDir) }, 'init', '--quiet', '--bare', `--object-format=${format}`, gitDir)
    await createFolder(join(gitDir, 'info'))
    await writeFileAtomic(join(gitDir, 'config'), privateConfig(format))
    await writeFileAtomic(join(gitDir, 'info', 'attributes'), attributes)
  }
}

/** Every name that Linux allows is stored, also those that Windows and macOS would confuse with `.git`. */
const privateConfig = (format: string): string =>
  [
    '[core]',
    `\trepositoryFormatVersion = ${format === 'sha1' ? 0 : 1}`,
    '\tbare = false',
    '\tautocrlf = false',
    '\tsafecrlf = false',
    '\tprotectNTFS = false',
    '\tprotectHFS = false',
    ...(format === 'sha1' ? [] : ['[extensions]', `\tobjectFormat = ${format}`]),
    '',
  ].join('\n')

/** What the user excludes in this repository alone stays excluded. */
async function copyExcludes(source: string, gitDir: string): Promise<void> {
  const target = join(gitDir, 'info', 'exclude')
  const content = (await readTextIfExists(source)) ?? ''
  if ((await readTextIfExists(target)) !== content) await writeFileAtomic(target, content)
}
