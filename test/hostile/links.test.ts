import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { prints, putProgram, reportBlock } from '../support/programs.ts'
import { createTestSprint } from '../support/sprint.ts'

const onward = { status: 'continue', summary: 's', pendingSteps: [{ id: null, prompt: 'more' }] }
const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'done' }
const says = (report: unknown) =>
  prints({
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: reportBlock(report),
    session_id: 's',
    usage: {},
  })

/** Everything that Ralph writes in a sprint's folder. */
const places = [
  'journal',
  'attempts',
  'transcripts',
  'requests',
  'index',
  'protected',
  '.lock',
  '.gitignore',
  'PROGRESS.yaml',
]

it('writes nothing through links that an agent has put in place of its files and folders', async () => {
  const sprint = await createTestSprint({ sprint: { 'done-when': [{ run: 'true', 'each-iteration': true }] } })
  const victims = places.map((place) => {
    const victim = sprint.at('../victims', place)
    mkdirSync(victim, { recursive: true })
    writeFileSync(join(victim, 'file'), 'of another user')
    return { place, victim, target: place.includes('.') ? join(victim, 'file') : victim }
  })
  const plant = victims.map(({ place, target }) => `rm -rf s/${place}; ln -s '${target}' s/${place}`).join('\n')
  const script = `if test -f once; then ${says(claim)}; else touch once; ${plant}; ${says(onward)}; fi`
  await putProgram(sprint, 'claude', script)

  const { exitCode } = await sprint.run()

  const found = victims.map(({ place, victim }) => ({ place, left: readdirSync(victim), text: readTextIn(victim) }))
  expect(exitCode).toBe(0)
  expect(found).toEqual(places.map((place) => ({ place, left: ['file'], text: 'of another user' })))
})

it('restores nothing through a link that leads out of the project', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [{ run: 'sh deep/check.sh', protect: true }], limits: { iterations: 1 } },
    files: { 'deep/check.sh': 'true\n' },
  })
  const victim = sprint.at('../victim')
  mkdirSync(victim)
  writeFileSync(join(victim, 'check.sh'), 'of another user')
  await putProgram(sprint, 'claude', `rm -rf deep; ln -s '${victim}' deep; ${says(claim)}`)

  await sprint.run()

  expect(readFileSync(join(victim, 'check.sh'), 'utf8')).toBe('of another user')
  expect(await sprint.iterations()).toMatchObject([{ verdict: 'refused' }])
})

const readTextIn = (folder: string): string => readFileSync(join(folder, 'file'), 'utf8')
