import { describe, expect, it } from 'vitest'
import { RalphError } from '../../src/contract/errors.ts'
import { busyFleet } from '../support/fake-busy.ts'
import { buildMachine, type Fleet } from '../support/fake-fleet.ts'
import { seriousIssues } from '../support/page.ts'
import { createTestPage } from './test-page.ts'

const { page, fake, complaints, open, go, see } = createTestPage()

const emptyFleet = (): Fleet => ({
  machines: [],
  agents: [],
  sprints: [],
  iterations: new Map(),
  events: new Map(),
  prompts: [],
  questions: [],
})

const sprintPath = (): string => `/sprints/${fake().fleet.sprints[0]?.id}`
const agentPath = (): string => `/agents/${fake().fleet.sprints[0]?.agentId}`

describe('every page', () => {
  const texts = {
    '/': 'Postgres or Redis?',
    SPRINT: 'Refused by “npm test”',
    'SPRINT?i=8&tab=changes': 'throw new Unauthorized',
    'SPRINT?tab=charts': 'Tokens',
    'SPRINT?tab=iterations': 'Planned eight steps',
    'SPRINT?tab=hooks': 'docs/auth.md: 2 dead links',
    AGENT: 'Then write a changelog entry',
    'AGENT?tab=conversations': '28 messages',
    'AGENT?tab=access': 'grace@example.org',
    '/?start=any': 'Planned sprint',
    '/needs-you': 'May I delete the flaky test?',
    '/machines': 'was last in contact 11 minutes ago',
    '/usage': 'By agent and model',
    '/settings?tab=webhooks': 'https://hooks.example.org/ralph',
    '/settings': 'Passkeys',
    '/settings?tab=people': 'grace@example.org',
    '/settings?tab=deliveries': 'its page is visible',
    '/settings?tab=audit': 'created join token',
    '/sign-in': 'Sign in to Ralph',
  } as const

  const look = async (path: keyof typeof texts): Promise<string[]> => {
    await go(path.replace('SPRINT', sprintPath()).replace('AGENT', agentPath()))
    await see(texts[path])
    const light = await seriousIssues(page())
    // Only colors depend on the scheme.
    await page().emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    const dark = await seriousIssues(page(), ['color-contrast'])
    await page().emulateMedia({ colorScheme: 'light' })
    return [...light, ...dark.map((issue) => `dark: ${issue}`)].map((issue) => `${path}: ${issue}`)
  }

  it('has no serious accessibility issue, no error and no policy violation, light or dark', async () => {
    await open('/', busyFleet(), { colorScheme: 'light' })
    const issues: string[] = []
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the keys of the table are its names
    for (const path of Object.keys(texts) as (keyof typeof texts)[]) issues.push(...(await look(path)))
    expect({ issues, complaints: complaints() }).toEqual({ issues: [], complaints: [] })
  })

  it('fits with names of 200 characters, from right to left, and without motion', async () => {
    const fleet = busyFleet()
    const long = 'wide-name-'.repeat(20)
    fleet.agents = fleet.agents.map((row) => ({
      ...row,
      agent: { ...row.agent, name: long },
      machine: { ...row.machine, name: long },
    }))
    fleet.sprints = fleet.sprints.map((sprint) => ({
      ...sprint,
      branch: long,
      progress: { ...sprint.progress, goal: long },
    }))
    fleet.machines = fleet.machines.map((machine) => ({ ...machine, name: long }))
    await open('/', fleet, { reducedMotion: 'reduce' })
    const wide: string[] = []
    for (const direction of ['ltr', 'rtl'])
      for (const path of ['/', sprintPath(), agentPath(), '/machines', '/needs-you']) {
        await go(path)
        await page().locator('main').waitFor()
        await page().locator('[aria-label=Loading]').first().waitFor({ state: 'detached' })
        await page().evaluate(`document.documentElement.dir = '${direction}'`)
        await page().waitForTimeout(150)
        const width = await page().evaluate<number>('document.documentElement.scrollWidth')
        if (width > 1400) wide.push(`${direction} ${path} ${width}`)
      }
    const moving = await page().evaluate<number>(
      `document.getAnimations().filter(({ playState }) => playState === 'running').length`,
    )
    expect({ wide, moving, complaints: complaints() }).toEqual({ wide: [], moving: 0, complaints: [] })
  })

  it('uses a wide screen, with the same width on every page', async () => {
    await open('/', busyFleet(), { viewport: { width: 1920, height: 1080 } })
    const widths: Record<string, number> = {}
    for (const path of ['/', sprintPath(), agentPath(), '/machines', '/needs-you', '/usage', '/settings']) {
      await go(path)
      await page().locator('main').waitFor()
      widths[path] = await page().evaluate<number>(`document.querySelector('main').clientWidth`)
    }
    expect(new Set(Object.values(widths)).size).toBe(1)
    expect(widths['/']).toBeGreaterThan(1600)
  })

  it('has the same edges as its header on a screen of 2560 px', async () => {
    await open('/', busyFleet(), { viewport: { width: 2560, height: 1440 } })
    await see('Postgres or Redis?')
    const edges = await page().evaluate<Record<string, number[]>>(`(() => {
      const [header, main] = [document.querySelector('#page > header'), document.querySelector('main')]
      const [first, last] = [header.firstElementChild, header.lastElementChild].map((each) => each.getBoundingClientRect())
      const table = main.querySelector('[role=table]').closest('section, div[class*=rounded]').getBoundingClientRect()
      return { header: [first.left, last.right], table: [table.left, table.right] }
    })()`)
    expect(edges['header']?.map(Math.round)).toEqual(edges['table']?.map(Math.round))
    expect((edges['table']?.[1] ?? 0) - (edges['table']?.[0] ?? 0)).toBeGreaterThan(2000)
  })

  it('prints in light colours and without controls', async () => {
    await open('/', busyFleet(), { colorScheme: 'dark' })
    await go(sprintPath())
    await see('Refused by “npm test”')
    await page().emulateMedia({ media: 'print' })
    const printed = await page().evaluate<{ shown: string[]; dark: boolean; colours: string }>(`(() => {
      const controls = ['#page > header', 'textarea', 'select', 'input[type=search]', '[aria-label="Download the evidence"]']
      const isShown = (selector) => [...document.querySelectorAll(selector)].some((each) => each.checkVisibility())
      const [r, g, b] = getComputedStyle(document.querySelector('h1')).color.match(/[0-9.]+/g).map(Number)
      const colours = getComputedStyle(document.querySelector('main')).printColorAdjust
      return { shown: controls.filter(isShown), dark: r + g + b < 300, colours }
    })()`)
    expect(printed).toEqual({ shown: [], dark: true, colours: 'exact' })
    // Rows that were measured on a wide screen do not cover each other on narrow paper.
    await go('/')
    await see('the agent crashed 5 times in a row')
    await page().setViewportSize({ width: 700, height: 900 })
    const edges = await page().evaluate<
      number[][]
    >(`[...document.querySelectorAll('[role=row][data-index]')].map((row) => {
      const { top, bottom } = row.getBoundingClientRect()
      return [top, bottom]
    })`)
    expect(edges.length).toBeGreaterThan(5)
    expect(edges.slice(1).map(([top = 0], row) => top >= (edges[row]?.[1] ?? 0) - 1)).not.toContain(false)
  })

  it('writes a name from right to left without reordering what stands beside it', async () => {
    const fleet = busyFleet()
    fleet.sprints = fleet.sprints.map((each) => ({ ...each, progress: { ...each.progress, goal: 'אימות (JWT)!' } }))
    await open('/', fleet)
    await go(sprintPath())
    await page().getByRole('heading', { level: 1 }).waitFor()
    const order = await page().evaluate<[number, number]>(`(() => {
      const text = document.querySelector('h1').firstChild
      const x = (at) => {
        const range = document.createRange()
        range.setStart(text, at)
        range.setEnd(text, at + 1)
        return range.getBoundingClientRect().x
      }
      return [x(0), x(text.length - 1)]
    })()`)
    // The exclamation mark ends the sentence at its left.
    expect(order[1]).toBeLessThan(order[0])
  })

  it('shows an empty state instead of nothing', async () => {
    await open('/', emptyFleet())
    await page().getByRole('heading', { name: 'Connect a machine' }).waitFor()
    await page().getByRole('button', { name: 'Create a join token' }).click()
    await see('ralph agents-server --join')
    fake().fleet.machines.push(buildMachine('vm-1'))
    fake().push({ type: 'machine', machine: buildMachine('vm-1') })
    await see('Agents on vm-1')
    await go('/needs-you')
    await see("You're all caught up")
    expect(complaints()).toEqual([])
  })

  it('shows the same for unknown and forbidden', async () => {
    await open('/sprints/0198b6a0-0000-7000-8000-00000000dead')
    const readRefusal = async () => {
      await page().locator('main').getByText('Page not found').waitFor()
      return page().locator('main').innerText()
    }
    const unknown = await readRefusal()
    fake().failing.set('getSprint', new RalphError('FORBIDDEN', 'you may not'))
    await go(sprintPath())
    expect(await readRefusal()).toBe(unknown)
    expect(unknown).toContain('you have no access to it')
  })
})
