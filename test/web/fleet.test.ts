import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { seriousIssues } from '../support/page.ts'
import { createPageAgent, createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

it('starts Ralph Mode from the dropdown, watches, answers, pauses, resumes, stops and restores, on a real backend', async () => {
  const { address, project, folder, api } = await serve()
  const { program, release } = createPageAgent(folder)
  await api.createAgent({ name: 'counter', workspace: { kind: 'folder', path: project }, program })

  const { page, complaints, see } = await open(address)
  const choose = async (menu: string, entry: string): Promise<void> => {
    await page.getByRole('button', { name: menu, exact: true }).click()
    await page.getByRole('menuitem', { name: entry }).click()
  }

  await page.getByRole('link', { name: 'counter' }).click()
  await choose('Modes', 'Ralph Mode')
  await page.getByLabel('Task').fill('Count as far as you can')
  await page.getByRole('button', { name: /^Start on .+, its current branch up to 40 iterations, \$10 cap$/ }).click()

  await page.getByRole('heading', { name: 'Count as far as you can' }).waitFor()
  await see('Turn 1: looking at the')
  await see('iteration 1 of 40')
  await page.getByRole('button', { name: 'cat build.log' }).click()
  await page.getByRole('button', { name: 'Read it in the raw transcript' }).click()
  await see('11 MB')
  expect(await page.evaluate<number>('document.body.textContent.length')).toBeLessThan(500_000)
  release(1)

  await page.getByRole('heading', { name: 'Which colour should the counter have?' }).waitFor()
  expect(await page.title()).toMatch(/^\(1\) /)
  await page.getByLabel('Your answer').fill('blue')
  await page.getByRole('button', { name: 'Answer', exact: true }).click()

  await see('Turn 3: looking at the')
  await page.getByRole('button', { name: 'cat counter.txt' }).last().click()
  await see('the colour is blue')
  await choose('Pause', 'After this iteration')
  await see('pausing after this iteration')
  release(3)
  await see('Paused')

  await page.getByRole('button', { name: 'Resume' }).click()
  await see('Turn 4: looking at the')
  await choose('Stop', 'Now')
  await see('Stopped')

  await page.getByRole('button', { name: 'Iteration 1 made progress' }).click()
  await page.getByRole('button', { name: 'Restore to 1' }).click()
  await page.getByRole('button', { name: 'Restore to iteration 1' }).click()
  await expect.poll(() => readFileSync(join(project, 'counter.txt'), 'utf8'), { timeout: 60_000 }).toBe('1\n')
  await page.getByText('Restore the files to iteration 1?').waitFor({ state: 'hidden' })

  // A restore may come too early while the agent is ending; the page retries, but the browser logs the refusal.
  const unexpected = complaints.lines.filter((line) => !/ (409|412) .*\/restore$/.test(line))
  expect({ issues: await seriousIssues(page), complaints: unexpected }).toEqual({ issues: [], complaints: [] })

  await page.goto(new URL('/sprints/0198b6a0-0000-7000-8000-00000000dead', address).href)
  await see('Page not found')
  // As if in another tab.
  const signOut = `{ method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }`
  await page.evaluate(`fetch('/api/sign-out', ${signOut})`)
  await page.keyboard.press('g')
  await page.keyboard.press('f')
  await see('Sign in to Ralph')
  expect(await page.getByText('with your organisation').count()).toBe(0)
}, 300_000)
