import { spawnSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { commitAll, prints, putProgram, reportBlock } from '../support/programs.ts'
import { createTestSprint, type Setup } from '../support/sprint.ts'
import { findBubblewrap } from './bubblewrap.ts'

const found = findBubblewrap()
export const bubblewrapFolder = 'folder' in found ? found.folder : ''

/** Members that work on this machine. Where one does not, the tests about it assert that it is refused. */
export const works = {
  bubblewrap: bubblewrapFolder !== '',
  namespaces: spawnSync('unshare', ['-Urmpf', '--mount-proc', 'true']).status === 0,
} as const

export const workingCells = (['bubblewrap', 'namespaces'] as const).filter((cell) => works[cell])

export const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'done' }
export const says = (report: unknown): string => saysText(reportBlock(report))
export const saysText = (result: string): string =>
  prints(
    { type: 'system', subtype: 'init', session_id: 's', model: 'm' },
    { type: 'result', subtype: 'success', is_error: false, result, session_id: 's', usage: {} },
  )

/** Tries each command, and writes into the project which of them went well. */
export const tries = (commands: Readonly<Record<string, string>>): string =>
  Object.entries(commands)
    .map(
      ([name, command]) => `if (${command}) >/dev/null 2>&1; then echo ${name}; else echo no-${name}; fi >>tried.txt`,
    )
    .join('\n')

/** A sprint whose agent is this script, in a repository, with the home folder of a user. */
export async function confined(script: string, { sprint, ...setup }: Setup = {}) {
  const made = await createTestSprint({
    ...setup,
    sprint: { sandbox: 'required', 'done-when': [], ...sprint },
    env: { IS_SANDBOX: '', ...setup.env },
  })
  if (bubblewrapFolder !== '') await putProgram(made, 'bwrap', `exec '${bubblewrapFolder}/bwrap' "$@"`)
  await putProgram(made, 'claude', `${script}\n${says(claim)}`)
  for (const name of ['.ssh', '.claude', '.npm', '.ralph']) await mkdir(made.at('../home', name))
  await writeFile(made.at('../home/.ssh/id_rsa'), 'of the user')
  await writeFile(made.at('../home/.ralph/secret'), 'of ralph')
  await commitAll(made)
  // A repository from a template without hooks has no folder for them.
  await rm(made.at('.git/hooks'), { recursive: true })
  return made
}

export const tried = async (sprint: { readonly read: (name: string) => Promise<string> }) =>
  (await sprint.read('tried.txt')).trim().split('\n')
