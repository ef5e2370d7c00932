import type { Browser, Page } from 'playwright-core'
import { expect, it } from 'vitest'
import { createFrontProxy, type FrontProxy } from '../support/front-proxy.ts'
import { createPageAgent, createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

/** A real backend behind a proxy, and a sprint at work. */
async function serveBehindProxy() {
  const proxy = await createFrontProxy()
  const args = [
    '--port',
    `${proxy.backendPort}`,
    '--origin',
    proxy.origin,
    '--behind-proxy',
    '--invitations',
    '--shared',
  ]
  const served = await serve(args)
  const { program, release } = createPageAgent(served.folder)
  const workspace = { kind: 'folder', path: served.project } as const
  const agent = await served.api.createAgent({ name: 'counter', workspace, program })
  const { sprintId } = await served.api.startRalphMode({ agentId: agent.id, taskDescription: 'Count', doneWhen: [] })
  const invite = async (name: string) => {
    const { address, user } = await served.api.inviteUser({ name, role: 'admin' })
    await served.api.grantMachine({ machineId: agent.machineId, userId: user.id, level: 'command', roots: [] })
    return { user, ...(await open(address)) }
  }
  return { ...served, proxy, release, sprintId, invite }
}

/** The browser itself logs each request that was refused or cut. */
const isUnexpected = (line: string): boolean => !line.includes('Failed to load resource')

const banner = (page: Page, text: string | RegExp) => page.getByRole('status').getByText(text)

it('tells the second of two people who answer one question who was first, and locks out a revoked user', async () => {
  const { api, proxy, origin, release, sprintId, invite } = await serveBehindProxy()
  const [ada, grace] = [await invite('ada'), await invite('grace')]
  release(1)
  for (const { page } of [ada, grace]) {
    await page.goto(`${origin}/needs-you`)
    await page.getByRole('heading', { name: 'Which colour should the counter have?' }).waitFor()
  }
  const answer = async (page: Page, text: string) => {
    await page.getByLabel('Your answer').fill(text)
    await page.getByRole('button', { name: 'Answer', exact: true }).click()
  }
  // Neither sees what the other does.
  proxy.buffering = true
  await answer(ada.page, 'blue')
  await ada.see('Answered; the sprint resumes')
  await answer(grace.page, 'red')
  await grace.see('Ada has already answered this question: “blue”')
  expect(await grace.page.getByLabel('Your answer').inputValue()).toBe('red')
  proxy.buffering = false
  proxy.cut()
  for (const { page, see } of [ada, grace]) {
    await see("You're all caught up")
    await see('ada: blue')
    await page.goto(`${origin}/sprints/${sprintId}`)
    await page.getByRole('log').getByText('ada answers').waitFor()
    expect(await page.getByRole('log').getByText('grace answers').count()).toBe(0)
  }

  await grace.page.getByLabel('Message to the agent').fill('Not sent yet')
  await api.changeUser({ userId: grace.user.id, disabled: true })
  await grace.see('Sign in to Ralph')
  await grace.page.goto(`${origin}/sprints/${sprintId}`)
  await grace.see('Sign in to Ralph')
  await ada.see('Turn 3: looking at the')

  // What the audit says about it.
  await ada.page.goto(`${origin}/settings?tab=audit`)
  await ada.page.getByLabel('Filter by person, action or object').fill('grace')
  const changed = ada.page.getByRole('list', { name: 'Audit log' }).locator('li').filter({ hasText: 'changed user' })
  await changed.locator('summary').click()
  expect(await changed.locator('pre').innerText()).toMatch(/"before": \{\s+"disabledAt": null\s+\}/)
  expect([ada, grace].flatMap(({ complaints }) => complaints.lines.filter(isUnexpected))).toEqual([])
}, 240_000)

it('survives a buffering proxy, a lost network and an upgrade, with a clock that is an hour off', async () => {
  const { proxy, origin, release, sprintId, invite } = await serveBehindProxy()
  const { page, see, complaints } = await invite('ada')
  await page.goto(`${origin}/sprints/${sprintId}`)
  await see('Turn 1: looking at the')
  await page.getByLabel('Message to the agent').fill('Keep this text')

  proxy.offline = true
  proxy.cut()
  // The second one if the stream was not open yet.
  const lost = banner(page, /Live updates lost .* Showing the state at \d\d:\d\d:\d\d|Cannot reach the backend; rec/)
  await lost.waitFor()
  expect(await page.getByRole('heading', { name: 'Count' }).isVisible()).toBe(true)
  await page.getByRole('button', { name: 'Queue' }).click()
  await see('Cannot reach the backend')
  expect(await page.getByLabel('Message to the agent').inputValue()).toBe('Keep this text')
  release(1)
  proxy.offline = false
  await lost.waitFor({ state: 'hidden' })
  await page.getByRole('heading', { name: 'Which colour should the counter have?' }).waitFor()

  // A proxy in front of the backend that buffers from now on.
  proxy.buffering = true
  proxy.cut()
  await banner(page, 'Live updates do not arrive').waitFor()
  await page.getByLabel('Your answer').fill('blue')
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await see('Turn 3: looking at the')
  proxy.buffering = false
  proxy.cut()
  await banner(page, 'Live updates do not arrive').waitFor({ state: 'hidden' })

  proxy.version = '99.0.0'
  proxy.cut()
  await banner(page, /Ralph is 99\.0\.0 now, this page is from/).waitFor()
  expect(await page.getByLabel('Message to the agent').inputValue()).toBe('Keep this text')
  await page.getByRole('button', { name: 'Reload' }).click()
  await banner(page, 'Ralph is 99.0.0 now').waitFor({ state: 'hidden' })
  await see('Turn 3: looking at the')
  expect(await ageAnHourOff(page.context().browser(), page, proxy)).toMatch(/last event (now|\d+ s ago|[1-9] min ago)/)
  expect(complaints.lines.filter(isUnexpected)).toEqual([])
}, 300_000)

/** What the same session says about the age of the newest event on a computer whose clock is an hour ahead. */
async function ageAnHourOff(browser: Browser | null, page: Page, { origin }: FrontProxy): Promise<string> {
  const context = await browser?.newContext({ storageState: await page.context().storageState() })
  const other = await context?.newPage()
  if (!context || !other) throw new Error('no browser')
  await other.clock.install({ time: Date.now() + 3_600_000 })
  await other.goto(origin + new URL(page.url()).pathname)
  const age = other.getByText(/last event/).first()
  await age.waitFor()
  const text = await age.innerText()
  await context.close()
  return text
}
