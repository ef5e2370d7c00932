import { describe, expect, it } from 'vitest'
import type { SprintEvent } from '../../src/contract/events.ts'
import { busyFleet } from '../support/fake-busy.ts'
import { type Fleet, listed } from '../support/fake-fleet.ts'
import { longTranscript } from '../support/fake-transcript.ts'
import { createTestPage } from './test-page.ts'
import { payloads } from './payloads.ts'

const { page, fake, complaints, open, go, see } = createTestPage()

const sprintPath = (): string => `/sprints/${fake().fleet.sprints[0]?.id}`
const agentPath = (): string => `/agents/${fake().fleet.sprints[0]?.agentId}`

describe('a hostile transcript', () => {
  it('is text everywhere: no script runs, no request is sent', async () => {
    expect(payloads.length).toBeGreaterThanOrEqual(150)
    const fleet = busyFleet()
    addHostileTranscript(fleet)
    const requests: string[] = []
    await open('/sign-in', fleet)
    let hits = 0
    await page().exposeFunction('ralphHit', () => (hits += 1))
    page().on('dialog', (dialog) => void dialog.dismiss())
    page().on('request', (request) => {
      const { origin, pathname } = new URL(request.url())
      if (
        origin !== fake().url ||
        !/^\/(api|assets)\/|^\/(begin\.js|icon\.svg)?$|^\/(sprints|needs-you)/.test(pathname)
      )
        requests.push(request.url())
    })
    const seen = new Set<string>()
    await go(sprintPath())
    await page().locator('[role=log] [data-index]').first().waitFor()
    for (let up = 0; up < 60; up += 1) {
      for (const text of await page().locator('[role=log] [data-index]').allInnerTexts()) seen.add(text)
      if ((await page().locator('[role=log] [data-index="0"]').count()) > 0) break
      await page().locator('[role=log]').hover()
      await page().mouse.wheel(0, -700)
      await page().waitForTimeout(30)
    }
    await page()
      .getByRole('button', { name: /ralphHit/ })
      .last()
      .click()
    await go('/needs-you')
    await see('Needs you')
    await go('/')
    await see('ralphHit')
    const dangerous = await page().locator('[href^="javascript:"],[src^="javascript:"],[onerror],[onload]').count()
    expect({ hits, requests, dangerous, complaints: complaints() }).toEqual({
      hits: 0,
      requests: [],
      dangerous: 0,
      complaints: [],
    })
    expect(seen.size).toBeGreaterThan(100)
  })
})

function addHostileTranscript(fleet: Fleet): void {
  const [sprint] = fleet.sprints
  const [row] = fleet.agents
  const [question] = fleet.questions
  if (!sprint || !row || !question) throw new Error('nothing to be hostile to')
  const bad = payloads[3] ?? ''
  const events = payloads.flatMap((payload, n): SprintEvent[] => {
    const agent = (event: Extract<SprintEvent, { type: 'agent' }>['event']): SprintEvent => ({
      type: 'agent',
      iteration: 9,
      attempt: 1,
      event,
    })
    const call = { kind: 'tool', id: `t${n}`, name: payload.slice(0, 60) } as const
    return [
      agent({ kind: 'text', text: payload }),
      agent({ ...call, phase: 'start', argument: payload, input: { old_string: payload, new_string: payload } }),
      agent({ ...call, phase: 'end', ok: n % 2 === 0, output: payload }),
      { type: 'claim-refused', iteration: 9, by: [payload], reason: payload },
    ]
  })
  fleet.events.set(
    sprint.id,
    listed(
      events.map((event, seq) => ({
        id: String(seq),
        agentId: sprint.agentId,
        sprintId: sprint.id,
        seq,
        at: Date.now(),
        event,
      })),
    ),
  )
  fleet.sprints = [{ ...sprint, branch: bad, progress: { ...sprint.progress, goal: bad, reason: bad } }]
  const { id: sprintId, agentId } = sprint
  fleet.questions = [
    { ...question, sprintId, agentId, reason: bad, details: payloads[125] ?? '', options: [bad, 'ok'] },
  ]
  fleet.agents = [{ ...row, agent: { ...row.agent, name: bad }, machine: { ...row.machine, name: bad } }]
}

describe('a long transcript', () => {
  it('of 100,000 events loads one page, keeps few rows and little memory, even when read far back', async () => {
    const fleet = busyFleet()
    const [sprint] = fleet.sprints
    if (!sprint) throw new Error('no sprint')
    fleet.events.set(sprint.id, longTranscript(sprint, 100_000))
    await open('/', fleet)
    // The stream opens while the first page is on its way: it is asked for once more, not twice.
    fake().delays.set('listEvents', 700)
    let pages = 0
    // The reason of a refused claim is a request of its own, of one kind of events.
    const isPage = (url: string): boolean => /sprints\/[^/]+\/events\?/.test(url) && !url.includes('kind=')
    page().on('request', (request) => (pages += isPage(request.url()) ? 1 : 0))
    await go(sprintPath())
    await page().getByText('part-49999').waitFor()
    await expect.poll(() => pages, { timeout: 60_000 }).toBe(2)
    await page().waitForTimeout(1000)
    const first = pages
    fake().delays.clear()
    await page().locator('[role=log]').hover()
    for (let step = 0; step < 60; step += 1) {
      await page().mouse.wheel(0, -2500)
      await page().waitForTimeout(15)
    }
    await expect.poll(() => pages, { timeout: 60_000 }).toBeGreaterThan(5)
    const session = await page().context().newCDPSession(page())
    await session.send('HeapProfiler.collectGarbage')
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    const rows = await page().locator('[role=log] [data-index]').count()
    await page().getByRole('button', { name: 'Newest' }).click()
    await page().getByText('part-49999').waitFor()
    expect({ first, rows: rows < 80, megabytes: usedSize < 150e6, complaints: complaints() }).toEqual({
      first: 2,
      rows: true,
      megabytes: true,
      complaints: [],
    })
  })

  it('shows the event that the user jumps to, also while older events load above it', async () => {
    const fleet = busyFleet()
    const [sprint] = fleet.sprints
    if (!sprint) throw new Error('no sprint')
    fleet.events.set(sprint.id, longTranscript(sprint, 100_000))
    await open('/', fleet)
    await go(sprintPath())
    const missed: number[] = []
    for (let jump = 1; jump <= 15; jump += 1) {
      const seq = ((jump * 37) % 99) * 1000
      await page().getByLabel('Place in the transcript').fill(String(seq))
      await page()
        .getByText(`Thought number ${seq}.`)
        .first()
        .waitFor({ timeout: 10_000 })
        .catch(() => missed.push(seq))
    }
    expect(missed).toEqual([])
  })

  it('follows new events until the user scrolls away, and then stays in place', async () => {
    await open('/')
    await go(sprintPath())
    await see('npm test -- logout')
    const [sprint] = fake().fleet.sprints
    if (!sprint) throw new Error('no sprint')
    const say = (seq: number): void =>
      fake().push({
        type: 'event',
        event: {
          id: `new-${seq}`,
          agentId: sprint.agentId,
          sprintId: sprint.id,
          seq,
          at: Date.now(),
          event: { type: 'agent', iteration: 9, attempt: 1, event: { kind: 'text', text: `Live thought ${seq}` } },
        },
      })
    for (let seq = 900; seq < 910; seq += 1) say(seq)
    await page().getByText('Live thought 909').waitFor()
    expect(await page().getByText('Live thought 909').isVisible()).toBe(true)
    await page().locator('[role=log]').hover()
    await page().mouse.wheel(0, -600)
    await page().getByRole('button', { name: 'Newest' }).waitFor()
    const top = () => page().evaluate<number>(`document.querySelector('[role=log]').scrollTop`)
    const before = await top()
    for (let seq = 910; seq < 920; seq += 1) say(seq)
    await page().waitForTimeout(500)
    expect(Math.abs((await top()) - before)).toBeLessThan(5)
    await page().getByRole('button', { name: 'Newest' }).click()
    await page().getByText('Live thought 919').waitFor()
  })

  it('links a truncated output to the complete transcript', async () => {
    const fleet = busyFleet()
    const [sprint] = fleet.sprints
    if (!sprint) throw new Error('no sprint')
    const event = {
      type: 'agent',
      iteration: 9,
      attempt: 1,
      event: { kind: 'tool', phase: 'end', id: 'x', name: 'Bash', ok: true, output: 'the beginning' },
    } as const
    fleet.events.set(
      sprint.id,
      listed([{ id: '5', agentId: sprint.agentId, sprintId: sprint.id, seq: 0, at: Date.now(), event, clipped: true }]),
    )
    await open(`/sprints/${sprint.id}`, fleet)
    await page().locator('[role=log] button').first().click()
    await see('the beginning')
    await page().getByRole('button', { name: 'Read it in the raw transcript' }).click()
    await see('the whole output')
    expect(complaints()).toEqual([])
  })
})

describe("a user's prompt", () => {
  it('shows its events, and the input and output of a tool', async () => {
    await open('/sign-in')
    await go(agentPath())
    await page().getByText('What happened').first().click()
    await page().getByRole('button', { name: 'npm test -- logout' }).click()
    await page().getByRole('button', { name: 'Close' }).waitFor()
    expect(complaints()).toEqual([])
  })
})

describe('by keyboard', () => {
  it('opens the palette, navigates, keeps a draft, and starts', async () => {
    await open('/')
    await see('Postgres or Redis?')
    await page().keyboard.press('Control+k')
    await page()
      .getByPlaceholder(/Go to an agent/)
      .fill('machi')
    await page().keyboard.press('Enter')
    await see('Connect a machine')
    await page().keyboard.press('g')
    await page().keyboard.press('f')
    await see('spent today')
    await page().keyboard.press('n')
    await page().getByLabel('Task').fill('Make it faster')
    await page().keyboard.press('Escape')
    await page().getByLabel('Task').waitFor({ state: 'hidden' })
    await page().keyboard.press('n')
    expect(await page().getByLabel('Task').inputValue()).toBe('Make it faster')
    await page().getByLabel('Where', { exact: true }).fill('docs')
    await page().keyboard.press('Enter')
    await page().getByLabel('npm test').waitFor()
    await page().getByLabel('Task').press('Control+Enter')
    await page().getByRole('heading', { name: 'Make it faster' }).waitFor()
    expect(fake().sent.find(({ name }) => name === 'startRalphMode')?.input).toMatchObject({
      taskDescription: 'Make it faster',
      limits: { iterations: 40, usd: 10, noProgress: 5 },
      ifBusy: 'refuse',
    })
    expect(complaints()).toEqual([])
  })
})

describe('the fleet', () => {
  it('moves through its rows with j and k, and Enter opens one', async () => {
    const fleet = busyFleet()
    const [template] = fleet.sprints
    if (!template) throw new Error('no sprint')
    // The page loads the sprint of a row that keeps the focus.
    const missing = fleet.agents.filter(({ sprint }) => !fleet.sprints.some(({ id }) => id === sprint?.id))
    for (const { agent, sprint } of missing)
      if (sprint) fleet.sprints.push({ ...template, id: sprint.id, agentId: agent.id })
    await open('/', fleet)
    await see('Postgres or Redis?')
    await page().locator('[aria-label=Loading]').waitFor({ state: 'detached' })
    for (const [key, index] of [
      ['j', 0],
      ['j', 1],
      ['j', 2],
      ['k', 1],
    ] as const) {
      await page().keyboard.press(key)
      await page().waitForFunction(`document.activeElement?.closest('[data-index]')?.dataset.index === '${index}'`)
    }
    expect(complaints()).toEqual([])
    const target = await page().evaluate<string>('document.activeElement.href')
    await page().keyboard.press('Enter')
    await page().waitForURL(target)
  })

  it('lists more open questions than one page of the API holds', async () => {
    const fleet = busyFleet()
    const [question] = fleet.questions
    if (!question) throw new Error('no question')
    const id = (n: number): string => `0198b6a0-0000-7000-8000-${String(n).padStart(12, '0')}`
    fleet.questions = Array.from({ length: 250 }, (_, n) => ({
      ...question,
      id: id(n),
      status: 'open' as const,
      reason: `Question ${n}?`,
      askedAt: Date.now() - n * 1000,
    }))
    await open('/needs-you', fleet)
    await see('Question 249?')
    expect(await page().getByRole('region', { name: 'Open question' }).count()).toBe(250)
    expect(complaints()).toEqual([])
  })
})

describe('on a phone', () => {
  it('fits without horizontal scrolling', async () => {
    await open('/', busyFleet(), { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true })
    await see('Postgres or Redis?')
    const widths: Record<string, number> = {}
    for (const path of [
      '/',
      sprintPath(),
      agentPath(),
      '/needs-you',
      '/machines',
      '/settings?tab=audit',
      '/?start=any',
      '/usage',
    ]) {
      await go(path)
      await page().locator('main').waitFor()
      await page().locator('[aria-label=Loading]').first().waitFor({ state: 'detached' })
      widths[path] = await page().evaluate<number>('document.documentElement.scrollWidth')
    }
    expect(Object.values(widths).filter((width) => width > 390)).toEqual([])
    // The button says where the agent will run: all of it is readable.
    const [row] = fake().fleet.agents
    await go(`/?start=${row?.agent.id}`)
    const start = page().getByRole('button', { name: /^(Start|Queue) on .+ up to 40 iterations/ })
    await start.waitFor()
    const [button, words] = [await start.boundingBox(), await start.locator('span').first().boundingBox()]
    expect(words?.width).toBeLessThan(button?.width ?? 0)
  })
})
