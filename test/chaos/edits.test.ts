import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import { createRandom } from '../simulation/random.ts'
import { waitUntil, type RawProgress } from '../support/sprint.ts'
import { createSprintUnderFire, type UnderFire } from './sprint-under-fire.ts'

const seed = Number(process.env['SEED'] ?? Date.now() % 1_000_000)
const again = `SEED=${seed} npm run test:more -- chaos`

/** Adds steps to PROGRESS.yaml, twenty times a second, the way `yq -i` or an editor does. Returns their texts. */
async function edits(sprint: UnderFire, count: number, how: 'a new file' | 'in place'): Promise<string[]> {
  const file = sprint.at('project', 's', 'PROGRESS.yaml')
  const random = createRandom(seed)
  const texts: string[] = []
  while (texts.length < count) {
    const progress: RawProgress = parse(readFileSync(file, 'utf8'))
    // Sometimes the author is slow, and what it has read is old by then.
    await sleep(random.chance(0.2) ? 300 : 50)
    const text = `by hand ${texts.length}`
    texts.push(text)
    const step = { id: `mine-${texts.length}`, prompt: text, status: 'pending' as const }
    const edited = stringify({ ...progress, 'dynamic-steps': [...progress['dynamic-steps'], step] })
    if (how === 'in place') writeFileSync(file, edited)
    else {
      writeFileSync(`${file}.yq`, edited)
      renameSync(`${file}.yq`, file)
    }
  }
  return texts
}

const editByHand = ({ 'dynamic-steps': steps }: RawProgress): string[] =>
  steps.map(({ prompt }) => prompt).filter((prompt) => prompt.startsWith('by hand'))

it.each(['a new file', 'in place'] as const)(
  `takes over every edit of a user who edits at 20 Hz (%s), once (${again})`,
  async (how) => {
    const sprint = await createSprintUnderFire()
    onTestFinished(() => sprint.remove())
    const run = sprint.run()
    await waitUntil('the first iteration', () => run.output().stdout.includes('"iteration-ended"'))
    const texts = await edits(sprint, 40, how)
    await waitUntil('the last edit', () => editByHand(sprint.account().progress).length >= texts.length)
    sprint.finish()

    expect(await run.ended).toMatchObject({ exitCode: 0, stderr: '' })
    expect(editByHand(sprint.account().progress)).toEqual(texts)
  },
)

it(`applies every edit once, although the run is killed repeatedly (${again})`, async () => {
  const sprint = await createSprintUnderFire()
  onTestFinished(() => sprint.remove())
  let run = sprint.run()
  await waitUntil('the first iteration', () => run.output().stdout.includes('"iteration-ended"'))
  const editing = edits(sprint, 80, 'a new file')
  const random = createRandom(seed)
  for (let kills = 0; kills < 6; kills++) {
    await sleep(400 + random.below(1200))
    run.kill('SIGKILL')
    await run.ended
    run = sprint.run()
  }
  const texts = await editing
  await waitUntil('the last edit', () => editByHand(sprint.account().progress).length >= texts.length)
  sprint.finish()

  expect(await run.ended).toMatchObject({ exitCode: 0 })
  expect(run.output().stdout).not.toContain('not taken over')
  expect(editByHand(sprint.account().progress)).toEqual(texts)
})

it('shows why an edit is refused', async () => {
  const sprint = await createSprintUnderFire()
  onTestFinished(() => sprint.remove())
  const run = sprint.run()
  await waitUntil('the first iteration', () => run.output().stdout.includes('"iteration-ended"'))
  const file = sprint.at('project', 's', 'PROGRESS.yaml')
  writeFileSync(file, readFileSync(file, 'utf8').replace('goal: survive', 'goal: something else'))
  await waitUntil('the refusal', () => run.output().stdout.includes('goal cannot be changed in PROGRESS.yaml'))
  writeFileSync(file, 'status: [')
  await waitUntil('the refusal', () => run.output().stdout.includes('it cannot be read'))
  sprint.finish()

  expect(await run.ended).toMatchObject({ exitCode: 0 })
  expect(sprint.account().progress.goal).toBe('survive')
})
