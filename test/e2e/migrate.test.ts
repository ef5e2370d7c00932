import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'
import { root } from '../support/paths.ts'

const fixture = (name: string): string => readFileSync(join(root, 'test/fixtures/seeds', name), 'utf8')
const sprintFile = 'workflow: ralph\ngoal: Build it\n'

type Migration = {
  readonly written: boolean
  readonly refused: number
  readonly sprints: readonly {
    readonly folder: string
    readonly move: string
    readonly notes: readonly string[]
    readonly problems: readonly string[]
    readonly kept: readonly string[]
    readonly copy?: string
  }[]
  readonly workflows: readonly { readonly diagnostics: readonly { readonly code: string }[] }[]
}

const withUnknownFields = fixture('001-progress.yaml').replace(
  'dynamic-steps:\n  - ',
  'operator-notes: keep me\ndynamic-steps:\n  - owner: Ann\n    ',
)

/** A project with sprints of m42, one of them half migrated. */
const project = {
  '.claude/workflows/release.yaml':
    'name: Release\norchestration: { enabled: false }\nmystery: 1\nphases:\n  - { id: prepare, prompt: Prepare }\n',
  '.claude/sprints/2026-01-18_auth-feature/SPRINT.yaml': `${sprintFile}strange: { a: 1 }\n`,
  '.claude/sprints/2026-01-18_auth-feature/PROGRESS.yaml': withUnknownFields,
  '.claude/sprints/2026-01-18_auth-feature/PROGRESS.yaml.checksum': 'abc\n',
  '.claude/sprints/2026-01-18_auth-feature/transcriptions/phase-0.log': 'said\n',
  '.claude/sprints/2026-01-20_new/SPRINT.yaml': sprintFile,
  '.claude/sprints/README.md': 'not a sprint\n',
} as const

it('says what it would do first, and writes nothing (dry run)', async () => {
  const sprint = await createTestSprint({ files: project })
  const before = await sprint.contents()

  const { exitCode, stdout } = await sprint.ralph('migrate', '--json')
  const found: Migration = JSON.parse(stdout)

  expect({ exitCode, written: found.written, refused: found.refused }).toEqual({
    exitCode: 0,
    written: false,
    refused: 0,
  })
  expect(found.sprints.map(({ folder, move }) => `${folder} ${move}`)).toEqual([
    '.claude/sprints/2026-01-18_auth-feature import',
    '.claude/sprints/2026-01-20_new new',
  ])
  expect(found.sprints[0]).toMatchObject({
    notes: ['unknown to Ralph, kept in the copy of the original: operator-notes, dynamic-steps[].owner'],
    kept: ['PROGRESS.yaml.checksum', 'transcriptions'],
  })
  expect(found.workflows[0]?.diagnostics.map(({ code }) => code)).toEqual(['NOT_SUPPORTED', 'UNKNOWN_FIELD'])
  expect(await sprint.contents()).toEqual(before)
})

it('imports with --write, deletes nothing, and has nothing left to do the second time', async () => {
  const sprint = await createTestSprint({ files: project })
  const before = await sprint.contents()

  const { exitCode, stdout } = await sprint.ralph('migrate', '--write')
  expect(exitCode).toBe(0)
  expect(stdout).toContain('1 of 2 sprints imported, 0 refused; nothing was deleted')
  expect(stdout).toContain('/SPRINT.yaml:3:1  warning UNKNOWN_FIELD')

  const after = await sprint.contents()
  const dir = '.claude/sprints/2026-01-18_auth-feature'
  const { [`${dir}/PROGRESS.yaml`]: original, ...others } = before
  expect(after).toMatchObject(others)
  expect(after[`${dir}/PROGRESS.yaml.imported`]).toBe(original)
  expect(after[`${dir}/PROGRESS.yaml`]).toContain('schema-version: 1')

  const again: Migration = JSON.parse((await sprint.ralph('migrate', '--write', '--json')).stdout)
  expect(again.sprints.map(({ move }) => move)).toEqual(['current', 'new'])
})

it('continues a half-migrated folder: what is done stays done', async () => {
  const second = {
    '.claude/sprints/b/SPRINT.yaml': sprintFile,
    '.claude/sprints/b/PROGRESS.yaml': fixture('000-progress.yaml'),
  }
  const sprint = await createTestSprint({ files: project })
  await sprint.ralph('migrate', '--write')
  for (const [name, text] of Object.entries(second)) await sprint.write(name, text)

  const found: Migration = JSON.parse((await sprint.ralph('migrate', '--write', '--json')).stdout)
  expect(found.sprints.map(({ move }) => move)).toEqual(['current', 'new', 'import'])
  expect(found.sprints[2]?.copy).toBe('.claude/sprints/b/PROGRESS.yaml.imported')
})

it('refuses two sprints with one id, and imports the others', async () => {
  const copy = '.claude/sprints/2026-01-19_copy'
  const other = '.claude/sprints/c'
  const files = {
    ...project,
    [`${copy}/SPRINT.yaml`]: sprintFile,
    [`${copy}/PROGRESS.yaml`]: fixture('001-progress.yaml'),
    [`${other}/SPRINT.yaml`]: sprintFile,
    [`${other}/PROGRESS.yaml`]: fixture('000-progress.yaml'),
  }
  const sprint = await createTestSprint({ files })

  const { exitCode, stdout } = await sprint.ralph('migrate', '--write', '--json')
  const found: Migration = JSON.parse(stdout)

  expect({ exitCode, refused: found.refused }).toEqual({ exitCode: 1, refused: 2 })
  expect(found.sprints.map(({ move }) => move)).toEqual(['refused', 'refused', 'new', 'import'])
  expect(found.sprints[1]?.problems).toEqual([
    'sprint-id 2026-01-18_auth-feature is also that of 2026-01-18_auth-feature; give one of them another',
  ])
  expect(await sprint.read(`${copy}/PROGRESS.yaml`)).toBe(fixture('001-progress.yaml'))
})

it('refuses what it cannot read, with the place, and touches nothing of it', async () => {
  const broken = '.claude/sprints/broken'
  const files = { [`${broken}/SPRINT.yaml`]: sprintFile, [`${broken}/PROGRESS.yaml`]: 'goal: [\n' }
  const sprint = await createTestSprint({ files })
  const before = await sprint.contents()

  const { exitCode, stdout } = await sprint.ralph('migrate', '--write')
  expect(exitCode).toBe(1)
  expect(stdout).toMatch(
    /^ {2}\.claude\/sprints\/broken\/PROGRESS\.yaml(?::\d+)* {2}error PROGRESS_INVALID {2}is not YAML/m,
  )
  expect(await sprint.contents()).toEqual(before)
  expect(await sprint.ralph('migrate', 'nowhere')).toMatchObject({ exitCode: 1 })
})
