import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { createTestIo } from '../../../test/support/test-io.ts'
import { RalphError } from '../../contract/errors.ts'
import { nameSprintInHint } from './name-in-hint.ts'

const options = {
  agent: { type: 'string', description: 'a' },
  yes: { type: 'boolean', description: 'y' },
} as const

async function findHint(sprints: readonly string[], args: readonly string[], file?: string) {
  const cwd = createTestFolder()
  for (const name of sprints) {
    const folder = join(cwd, '.claude/sprints', name)
    // oxlint-disable-next-line no-await-in-loop -- two
    await mkdir(folder, { recursive: true })
    // oxlint-disable-next-line no-await-in-loop -- two
    await writeFile(join(folder, 'SPRINT.yaml'), 'goal: g\n')
  }
  const place = file === undefined ? {} : { place: { file: join(cwd, file) } }
  const error = new RalphError('JOURNAL_DAMAGED', 'm', { ...place, hint: 'ralph doctor <sprint> --repair' })
  const named = await nameSprintInHint(error, { args, options }, createTestIo({ cwd }).io)
  return named.hint
}

const two = ['2026-11-15_alpha', 'codex-port']

it.each([
  ['the name after the value of a flag', two, ['--agent', 'codex', 'alpha'], 'alpha'],
  ['the name after a flag without a value', two, ['--yes', 'alpha'], 'alpha'],
  ['the name with its date', two, ['2026-11-15_alpha'], 'alpha'],
  ['nothing for the beginning of a name', two, ['codex'], '<sprint>'],
  ['nothing for a name that is the value of a flag', two, ['--agent', 'alpha'], '<sprint>'],
  ['nothing if Ralph chose one of several', two, [], '<sprint>'],
  ['the only one', ['alpha'], ['--agent', 'codex'], 'alpha'],
])('puts into a hint %s', async (_, sprints, args, name) => {
  expect(await findHint(sprints, args)).toBe(`ralph doctor ${name} --repair`)
})

it.each(['', '/SPRINT.yaml', '/PROGRESS.yaml'])(
  'prefers the sprint that the error is about: its folder%s',
  async (file) => {
    const hint = await findHint(two, ['codex-port'], `.claude/sprints/2026-11-15_alpha${file}`)

    expect(hint).toBe('ralph doctor alpha --repair')
  },
)
