import { expect, it } from 'vitest'
import { createPageAgent, createServedPages, waitForSignIn } from './served-page.ts'

// Browsers of users have a back/forward cache; Playwright switches it off by default.
const { serve, browser } = createServedPages({ ignoreDefaultArgs: ['--disable-back-forward-cache'] })

it('answers 20 address-bar navigations in one tab and 12 tabs at once, and all of them stay live', async () => {
  const { address, origin, folder, project, api } = await serve()
  const { program, release } = createPageAgent(folder)
  const agent = await api.createAgent({ name: 'counter', workspace: { kind: 'folder', path: project }, program })
  const { sprintId } = await api.startRalphMode({ agentId: agent.id, taskDescription: 'Count', doneWhen: [] })
  const context = await browser().newContext({ viewport: { width: 1200, height: 800 } })
  context.setDefaultTimeout(30_000)
  const first = await context.newPage()
  await first.goto(address)
  await waitForSignIn(first)
  for (let load = 0; load < 20; load += 1) {
    await first.goto(`${origin}${load % 2 === 0 ? `/sprints/${sprintId}` : '/'}`)
    await first.getByText('counter').first().waitFor()
  }
  const tabs = [first]
  for (let tab = 1; tab < 12; tab += 1) {
    const page = await context.newPage()
    await page.goto(`${origin}/sprints/${sprintId}`)
    await page.getByRole('heading', { name: 'Count' }).waitFor()
    tabs.push(page)
  }
  await first.goto(`${origin}/sprints/${sprintId}`)
  await first.getByText('Turn 1: looking at the').waitFor()
  await api.tellSprint({ sprintId, text: 'Seen in every tab', now: false })
  await Promise.all(tabs.map((page) => page.getByRole('log').getByText('Seen in every tab').waitFor()))
  // The tab with the connection closes, and another one takes over.
  await tabs.shift()?.close()
  await api.tellSprint({ sprintId, text: 'Seen after the first tab', now: false })
  await Promise.all(tabs.map((page) => page.getByRole('log').getByText('Seen after the first tab').waitFor()))
  release(1)
  expect(tabs.length).toBe(11)
}, 300_000)
