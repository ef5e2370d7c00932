import { dirname, join, resolve } from 'node:path'
import { createFolder, exists, readTextIfExists, removeFile } from '../../platform/files/files.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { git } from '../../platform/git.ts'

export type WorkTree = {
  readonly root: string
  /** Ralph's private index; the private git folder lies beside it. */
  readonly index: string
}

/**
 * Files are stored byte for byte: no line-ending conversion, no filter, no encoding. `info/attributes` of the private git folder
 * overrides every `.gitattributes` file, so that no filter the agent configured runs, and a restored file is what it was.
 */
const attributes = '* -text -ident -filter -working-tree-encoding\n'

/**
 * Runs git on a work tree with a git folder of Ralph's own: its configuration, attributes and index, the user's objects. Commands
 * that read or write files use it, so that nothing in the repository's configuration can run a program or change content.
 */
export async function privateGit(tree: WorkTree, ...args: readonly string[]): Promise<string> {
  const { root, index } = tree
  const gitDir = `${index}.git`
  const paths = await git({ cwd: root }, 'rev-parse', '--git-path', 'objects', '--git-path', 'info/exclude')
  const [objects = '', exclude = ''] = paths.split('\n').map((path) => resolve(root, path))
  await prepareGitFolder(tree, gitDir)
  await copyExcludes(exclude, gitDir)
  return git({ cwd: root, index, gitDir, objects }, ...args)
}

async function prepareGitFolder({ root, index }: WorkTree, gitDir: string): Promise<void> {
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

const privateConfig = (format: string): string =>
  [
    '[core]',
    `\trepositoryFormatVersion = ${format === 'sha1' ? 0 : 1}`,
    '\tbare = false',
    '\tautocrlf = false',
    '\tsafecrlf = false',
    ...(format === 'sha1' ? [] : ['[extensions]', `\tobjectFormat = ${format}`]),
    '',
  ].join('\n')

/** What the user excludes in this repository alone stays excluded. */
async function copyExcludes(source: string, gitDir: string): Promise<void> {
  const target = join(gitDir, 'info', 'exclude')
  const wanted = (await readTextIfExists(source)) ?? ''
  if ((await readTextIfExists(target)) !== wanted) await writeFileAtomic(target, wanted)
}
