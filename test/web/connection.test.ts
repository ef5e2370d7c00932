import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { RalphError } from '../../src/contract/errors.ts'
import { createTestPage } from './test-page.ts'

const { page, fake, complaints, open, go, see } = createTestPage()

describe('when the connection is lost', () => {
  const renamed = (name: string): void => {
    const [row] = fake().fleet.agents
    if (!row) throw new Error('no agent')
    fake().fleet.agents[0] = { ...row, agent: { ...row.agent, name } }
    fake().push({ type: 'agent', row: { ...row, agent: { ...row.agent, name } } })
  }
  const isWatched = async () => await expect.poll(() => fake().watching(), { timeout: 30_000 }).toBe(1)

  it('says since when, keeps the loaded data, and catches up afterwards', async () => {
    await open('/')
    await see('Postgres or Redis?')
    await isWatched()
    fake().refusing = true
    fake().cutOff()
    await see(/Live updates lost .* Showing the state at \d\d:\d\d:\d\d/)
    expect(await page().getByText('Postgres or Redis?').isVisible()).toBe(true)
    renamed('missed')
    fake().refusing = false
    await page()
      .getByText(/Live updates lost/)
      .waitFor({ state: 'hidden' })
    await see('missed')
    renamed('renamed')
    await see('renamed')
  })

  it.each<['me' | 'events']>([['me'], ['events']])(
    'catches up when the connection was lost before the answer of “%s” arrived',
    async (slow) => {
      await open('/sign-in')
      fake().delays.set(slow, 3_600_000)
      await go('/')
      await see('Postgres or Redis?')
      fake().refusing = true
      fake().closeConnections()
      fake().delays.clear()
      await see(/Live updates lost|Cannot reach the backend/)
      expect(await page().getByText('Postgres or Redis?').isVisible()).toBe(true)
      fake().refusing = false
      await page()
        .getByText(/Live updates lost|Cannot reach the backend/)
        .waitFor({ state: 'hidden' })
      renamed('renamed')
      await see('renamed')
    },
  )

  it('recovers once the backend is back, even if a proxy answered in its place', async () => {
    await open('/sign-in')
    fake().proxyStatus = 502
    await go('/')
    await page().getByRole('alert').getByText('Cannot reach the backend').waitFor()
    await see('Cannot reach the backend; reconnecting.')
    const loads = countLoads(page())
    fake().proxyStatus = undefined
    await see('Postgres or Redis?')
    await page().getByText('reconnecting').waitFor({ state: 'hidden' })
    await isWatched()
    fake().proxyStatus = 503
    fake().cutOff()
    await see(/Live updates lost/)
    fake().proxyStatus = undefined
    await page()
      .getByText(/Live updates lost/)
      .waitFor({ state: 'hidden' })
    renamed('renamed')
    await see('renamed')
    expect(loads()).toBe(0)
  })

  it('asks the backend itself while a proxy buffers the stream, and says so', async () => {
    await open('/sign-in')
    fake().buffering = true
    await page().clock.install()
    await go('/')
    await see('Postgres or Redis?')
    const banner = page().getByText('Live updates do not arrive')
    await expect.poll(async () => (await page().clock.runFor(5000), banner.isVisible()), { timeout: 30_000 }).toBe(true)
    const [row] = fake().fleet.agents
    if (!row) throw new Error('no agent')
    fake().fleet.agents[0] = { ...row, agent: { ...row.agent, name: 'polled' } }
    const name = page().getByText('polled')
    await expect.poll(async () => (await page().clock.runFor(5000), name.isVisible()), { timeout: 30_000 }).toBe(true)
    fake().buffering = false
    await expect
      .poll(async () => (await page().clock.runFor(5000), banner.isVisible()), { timeout: 30_000 })
      .toBe(false)
    renamed('renamed')
    await see('renamed')
  })

  it('shows the same ages if the clock of the computer is an hour off', async () => {
    await open('/sign-in')
    await page().clock.install({ time: Date.now() + 3_600_000 })
    await go('/')
    await see(/waiting for you for 2 min/)
    expect(
      await page()
        .getByText(/waiting for you for 1 h|for 62 min/)
        .count(),
    ).toBe(0)
  })

  it('is live again as soon as the network is back', async () => {
    await open('/')
    await see('Postgres or Redis?')
    await isWatched()
    await page().context().setOffline(true)
    fake().cutOff()
    await see(/Live updates lost/)
    renamed('missed')
    await page().context().setOffline(false)
    await see('missed')
    await expect
      .poll(
        () =>
          page()
            .getByText(/Live updates lost/)
            .isVisible(),
        { timeout: 30_000 },
      )
      .toBe(false)
  })

  it('redirects a user whose access was revoked to the sign-in page', async () => {
    await open('/')
    await see('Postgres or Redis?')
    await isWatched()
    const gone = new RalphError('UNAUTHENTICATED', 'who are you?')
    for (const name of ['me', 'events'] as const) fake().failing.set(name, gone)
    fake().cutOff()
    await see('Sign in to Ralph')
    fake().failing.clear()
    await page().goto(`${fake().url}/sign-in#one-time-ticket`)
    await see('Postgres or Redis?')
    expect(page().url()).toBe(`${fake().url}/`)
    expect(fake().sent).toContainEqual({ name: 'signIn', input: { ticket: 'one-time-ticket' } })
  })

  it('reports an upgrade of the backend, and discards nothing', async () => {
    await open('/')
    await see('Postgres or Redis?')
    await isWatched()
    fake().version = '0.3.0'
    const loads = countLoads(page())
    fake().cutOff()
    await see('Ralph is 0.3.0 now, this page is from 0.2.0.')
    expect(loads()).toBe(0)
    await page().getByRole('button', { name: 'Reload' }).click()
    await page().getByText('this page is from').waitFor({ state: 'hidden' })
    await see('Postgres or Redis?')
  })

  it('reloads when its chunks are gone after an upgrade, but not for a browser error', async () => {
    await open('/')
    await see('Postgres or Redis?')
    let refused = 0
    await page().route(/assets\/machines-/, async (route) => {
      refused += 1
      await (refused === 1 ? route.abort() : route.continue())
    })
    fake().proxyStatus = 502
    const loads = countLoads(page())
    const response = page().waitForResponse(/healthz/)
    await page().getByRole('link', { name: 'Machines' }).click()
    await response
    expect([refused, loads()]).toEqual([1, 0])
    await see('Postgres or Redis?')
    fake().proxyStatus = undefined
    await see('Connect a machine')
    expect([refused, loads()]).toEqual([2, 1])
  })
})

function countLoads(of: Page): () => number {
  let loads = 0
  of.on('load', () => (loads += 1))
  return () => loads
}

describe('the stream of changes', () => {
  it('is a single connection, whatever is shown, and loses nothing when the page changes', async () => {
    await open('/')
    await see('Postgres or Redis?')
    const [sprint] = fake().fleet.sprints
    if (!sprint) throw new Error('no sprint')
    const happen = (seq: number): void => {
      const text = `Live thought ${seq}.`
      const event = {
        type: 'agent',
        iteration: 9,
        attempt: 1,
        event: { kind: 'text', text },
      } as const
      const stored = { id: `${seq}`, agentId: sprint.agentId, sprintId: sprint.id, seq, at: Date.now(), event }
      fake().push({ type: 'event', event: stored })
    }
    const toSprint = () => page().locator(`a[href^="/sprints/${sprint.id}"]`).first().click()
    // Only what each stream is about: how far the page has read when it opens the next one depends on the speed of the machine.
    const expectStreams = async (...sprintIds: (string | null)[]) =>
      await expect
        .poll(() => fake().streams.map((query) => new URLSearchParams(query).get('sprintId')), { timeout: 30_000 })
        .toEqual(sprintIds)
    await expectStreams(null)
    await toSprint()
    await see('npm test -- logout')
    await expectStreams(null, sprint.id)
    for (let seq = 900; seq < 905; seq += 1) happen(seq)
    await see('Live thought 904.')
    await page().getByRole('link', { name: 'Fleet' }).click()
    await see('Postgres or Redis?')
    await expectStreams(null, sprint.id, null)
    // Between the stream without the sprint and the one with it.
    fake().delays.set('events', 500)
    await toSprint()
    await expect.poll(() => fake().watching() === 0 || fake().streams.length === 4, { timeout: 30_000 }).toBe(true)
    happen(905)
    await see('Live thought 905.')
    await expectStreams(null, sprint.id, null, sprint.id)
    const thoughts = await page()
      .getByRole('log')
      .getByText(/^Live thought \d+\.$/)
      .allInnerTexts()
    expect(thoughts).toEqual([900, 901, 902, 903, 904, 905].map((seq) => `Live thought ${seq}.`))
    await expect.poll(() => fake().watching(), { timeout: 30_000 }).toBe(1)
    expect(complaints()).toEqual([])
  })
})
