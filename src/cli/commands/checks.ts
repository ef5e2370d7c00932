import { basename, dirname, join, relative, resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import {
  copyFolder,
  createPrivateFolder,
  exists,
  isFile,
  isFolder,
  listFolder,
  listTree,
  readTextSyncIfExists,
  realPath,
  removeFolder,
} from '../../platform/files/files.ts'
import { ralphHome } from '../../platform/ralph-home.ts'
import { displayPath } from '../io/display-path.ts'
import { defineCommand } from '../io/command.ts'
import type { Io } from '../io/io.ts'
import { slugFromGoal, yamlScalar } from '../sprint/sprint-files.ts'

export const checks = defineCommand({
  name: 'checks',
  summary: 'List held-out checks, and move tests out of the reach of agents',
  arguments: ['<list|hold-out>', '[path]'],
  options: {
    name: { type: 'string', value: 'NAME', description: 'hold-out: name of the folder; default: that of the project' },
    run: {
      type: 'string',
      value: 'COMMAND',
      description: 'hold-out: command that runs the tests; proposed if not given',
    },
    json: { type: 'boolean', description: 'print JSON' },
  },
  details: `list      list the folders of held-out checks
hold-out  move a test, or a folder with tests, from the project to ~/.ralph/checks/<name>. No agent can read it there; Ralph
          copies it into the clean copy for its own check only. Prints the lines for SPRINT.yaml.`,
  examples: ['ralph checks hold-out test/acceptance', 'ralph checks list'],
  async run({ values, positionals: [verb = '', path] }, io) {
    const shelf = join(ralphHome(io), 'checks')
    if (verb === 'list') return listHeldOut(shelf, values.json === true, io)
    if (verb !== 'hold-out')
      throw new RalphError('USAGE', `checks: unknown command "${verb}"`, { hint: 'use list or hold-out' })
    if (path === undefined)
      throw new RalphError('USAGE', 'checks hold-out: missing path', { hint: 'name a test, or a folder with tests' })
    const held = await holdOut(path, { shelf, name: values.name, run: values.run }, io)
    if (values.json === true) io.print(JSON.stringify(held))
    else for (const line of describeMove(held, io)) io.print(line)
    return 0
  },
})

async function listHeldOut(shelf: string, asJson: boolean, io: Io): Promise<number> {
  const names = (await listFolder(shelf)).filter((name) => isFolder(join(shelf, name))).toSorted()
  const folders = await Promise.all(names.map(async (name) => ({ name, files: await listTree(join(shelf, name)) })))
  if (asJson) io.print(JSON.stringify({ checks: folders }))
  else if (folders.length === 0) io.print('no held-out checks; make one with: ralph checks hold-out <path>')
  else for (const { name, files } of folders) io.print(`${name}  ${files.join(', ')}`)
  return 0
}

type HoldOut = { readonly shelf: string; readonly name: string | undefined; readonly run: string | undefined }
type HeldOut = {
  readonly name: string
  readonly folder: string
  readonly path: string
  readonly run: string
  readonly isInHistory: boolean
}

/** Copies first and removes then: a crash in between loses nothing. */
async function holdOut(file: string, { shelf, name: chosen, run }: HoldOut, io: Io): Promise<HeldOut> {
  const project = realPath(io.cwd)
  const from = resolve(io.cwd, file)
  if (!exists(from)) throw new RalphError('FILE_NOT_FOUND', 'file not found', { place: { file: file } })
  const path = relative(project, realPath(from)).replaceAll('\\', '/')
  if (path === '' || path.startsWith('..') || path === '.git' || path.startsWith('.git/'))
    throw new RalphError('USAGE', `checks hold-out: "${file}" is not a test inside the project`)
  const name = chosen ?? slugFromGoal(basename(project))
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]*$/.test(name))
    throw new RalphError('USAGE', `checks hold-out: "${name}" is not a valid name`, {
      hint: 'use letters, digits, ".", "_" and "-"',
    })
  const folder = join(shelf, name)
  if (exists(join(folder, path)))
    throw new RalphError('USAGE', `checks hold-out: ${name} already holds ${path}`, { hint: 'give another --name' })
  await createPrivateFolder(dirname(join(folder, path)))
  await copyFolder(from, join(folder, path))
  await removeFolder(from)
  return { name, folder, path, run: run ?? proposeCommand(project, path), isInHistory: exists(join(project, '.git')) }
}

/** The runner that the project uses, on the path alone. */
function proposeCommand(project: string, path: string): string {
  if (path.endsWith('.py') || isFile(join(project, 'pyproject.toml'))) return `python3 -m pytest ${path}`
  if (isFile(join(project, 'go.mod'))) return `go test ./${path.endsWith('.go') ? dirname(path) : path}/...`
  const manifest = readTextSyncIfExists(join(project, 'package.json')) ?? ''
  const runner = ['vitest', 'jest', 'mocha'].find((name) => manifest.includes(`"${name}"`))
  if (runner !== undefined) return `npx ${runner}${runner === 'vitest' ? ' run' : ''} ${path}`
  return manifest === '' ? `sh ${path}` : `node --test ${path}`
}

const describeMove = ({ name, folder, path, run, isInHistory }: HeldOut, io: Io): string[] => [
  `moved ${path} to ${displayPath(join(folder, path), io)}`,
  ...(isInHistory ? ['agents can still read it in the history of git, if it was committed'] : []),
  '',
  'add to SPRINT.yaml:',
  'done-when:',
  `  - { run: ${yamlScalar(run)}, held-out: ${name} }`,
]
