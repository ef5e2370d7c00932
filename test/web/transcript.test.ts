import { describe, expect, it } from 'vitest'
import { busyFleet } from '../support/fake-busy.ts'
import { longTranscript } from '../support/fake-transcript.ts'
import { createTestPage } from './test-page.ts'

const { page, fake, complaints, open, go } = createTestPage()

function longFleet(events: number) {
  const fleet = busyFleet()
  const [sprint] = fleet.sprints
  if (!sprint) throw new Error('no sprint')
  fleet.events.set(sprint.id, longTranscript(sprint, events))
  return { fleet, sprint }
}

const say = (sprint: ReturnType<typeof longFleet>['sprint'], seq: number): void =>
  fake().push({
    type: 'event',
    event: {
      id: `new-${seq}`,
      agentId: sprint.agentId,
      sprintId: sprint.id,
      seq,
      at: Date.now(),
      event: { type: 'agent', iteration: 9, attempt: 1, event: { kind: 'text', text: `Live thought ${seq}.` } },
    },
  })

describe('a transcript', () => {
  it('has no hole when the stream is faster than the answer', async () => {
    const { fleet, sprint } = longFleet(400)
    await open('/', fleet)
    await page().getByText('Postgres or Redis?').first().waitFor()
    // The answer is older than what the stream delivers before it arrives.
    fake().delays.set('listEvents', 1500)
    await page().getByRole('link', { name: 'api-server' }).click()
    await expect.poll(() => fake().streams.some((query) => query.includes(sprint.id))).toBe(true)
    for (let seq = 400; seq < 460; seq += 1) {
      say(sprint, seq)
      await page().waitForTimeout(10)
    }
    await page().getByText('Live thought 459.').waitFor()
    const seen = new Set<number>()
    for (let up = 0; up < 40 && !seen.has(400); up += 1) {
      for (const text of await page().locator('[role=log] [data-index]').allInnerTexts())
        for (const [, seq] of text.matchAll(/Live thought (\d+)\./g)) seen.add(Number(seq))
      await page().locator('[role=log]').hover()
      await page().mouse.wheel(0, -400)
      await page().waitForTimeout(50)
    }
    expect([...seen].toSorted((a, b) => a - b)).toEqual(Array.from({ length: 60 }, (_, n) => 400 + n))
  })

  it('of 150,000 events opens at its top, middle or end, and loads more in both directions', async () => {
    const { fleet, sprint } = longFleet(150_000)
    await open(`/sprints/${sprint.id}`, fleet)
    await page().getByText('part-74999').waitFor()
    await page().getByRole('button', { name: 'Top', exact: true }).click()
    await page().getByText('Thought number 0.').waitFor()
    expect(new URL(page().url()).searchParams.get('at')).toBe('0')
    const first = await page().locator('[role=log] [data-index="0"]').count()
    await page().getByLabel('Place in the transcript').fill('75000')
    await page().getByText('Thought number 75000.').waitFor()
    // Further than the page that was loaded first.
    const further = page().getByText(/Thought number 7(5[4-9]|[6-9]\d)\d\d\./)
    for (let down = 0; down < 80 && (await further.count()) === 0; down += 1) {
      await page().locator('[role=log]').hover()
      await page().mouse.wheel(0, 1500)
      await page().waitForTimeout(30)
    }
    expect(await further.count()).toBeGreaterThan(0)
    await page().getByRole('button', { name: 'Newest' }).click()
    await page().getByText('part-74999').waitFor()
    expect({ first, at: new URL(page().url()).searchParams.get('at'), complaints: complaints() }).toEqual({
      first: 1,
      at: null,
      complaints: [],
    })
    await go(`/sprints/${sprint.id}?at=1000`)
    await page().getByText('Thought number 1000.').waitFor()
    await page().getByRole('button', { name: 'Outline' }).click()
    await page().getByRole('list', { name: 'Outline' }).getByText('Read ×12').waitFor()
  })
})
