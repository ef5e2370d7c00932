import { readdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { knownPrograms } from '../../src/words/agent-programs.ts'
import { createTestFolder } from '../support/folder.ts'
import { seriousIssues } from '../support/page.ts'
import { createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

it('explains itself to a newcomer without an agent, and proves a demo sprint on screen', async () => {
  const { address, origin, api } = await serve([], {
    PATH: createPathWithoutAgents(),
    RALPH_SCRIPTED_PACE: '0',
  })
  const { page, complaints, see } = await open(address)
  await page.getByRole('heading', { name: /^Ralph runs a coding agent on your task again and again/ }).waitFor()
  await see('npm install -g @anthropic-ai/claude-code')
  const reason = 'no agent program: install one of claude, codex, gemini, opencode, then start ralph serve again'
  await see(reason)
  const issues = await seriousIssues(page)

  await page.getByRole('link', { name: 'project' }).click()
  await see(reason)
  await see('npm install -g @anthropic-ai/claude-code')
  await page.goto(origin)
  await page.getByRole('button', { name: 'Use this task' }).click()
  expect(await page.getByLabel('Task').inputValue()).toMatch(/^Find the function with the fewest tests/)
  await page.keyboard.press('Escape')

  await page.getByRole('button', { name: 'Run the demo sprint' }).click()
  await page.getByRole('heading', { name: 'Make the pancakes library work' }).waitFor()
  const proof = page.getByRole('region', { name: 'Proof' })
  await proof.getByText('Proved: the checks pass').waitFor({ timeout: 180_000 })
  await page.getByText('Done', { exact: true }).first().waitFor()
  const steps = await proof.getByRole('list', { name: 'How the claim was measured' }).locator('> li').allInnerTexts()
  expect(steps.map((text) => text.split('\n').slice(0, 2).join(': '))).toEqual([
    'Tests of the start, on the new code: all there, all green',
    'New tests: none',
    'Red first: 9 tests red at the start, green now',
    'Held-out checks: none set',
    'Seal: off',
    'Files that define a check: unchanged',
  ])
  // The cheat, by the name of the test that it skipped.
  const refused = page.getByRole('region', { name: 'Refused claims' })
  expect(await refused.getByRole('button').count()).toBe(2)
  await refused.getByText('never asks anybody to crack half an egg').first().click()
  await proof.getByText('1 missing, skipped or not run').waitFor()
  await proof.getByText(/1 test of the baseline missing/).waitFor()
  const download = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download the evidence' }).click()
  expect((await download).suggestedFilename()).toMatch(/-iteration-5-evidence\.json$/)

  await page.getByRole('button', { name: 'Show all iterations' }).click()
  await page.getByRole('button', { name: 'Outline' }).click()
  const outline = page.getByRole('list', { name: 'Outline' })
  await outline.getByRole('button', { name: /^Iteration 5.*Edit ×1.*error/ }).waitFor()
  await page.getByRole('button', { name: 'Top', exact: true }).click()
  await page.getByRole('log').getByText('I read the code and the tests first.').waitFor()
  await page.getByRole('button', { name: 'Next error' }).click()
  expect(new URL(page.url()).searchParams.get('at')).toMatch(/^\d+$/)
  await page.getByRole('button', { name: 'Next edit' }).click()
  await page.getByRole('log').getByText('Edit', { exact: true }).first().waitFor()

  const [pancakes] = (await api.listAgents({})).items.filter(({ agent }) => agent.name === 'pancakes')
  expect(pancakes?.sprint?.status).toBe('completed')
  expect({ issues, after: await seriousIssues(page), complaints: complaints.lines }).toEqual({
    issues: [],
    after: [],
    complaints: [],
  })
}, 300_000)

/** Every program of this computer but the agent programs, whether they are installed or not. */
function createPathWithoutAgents(): string {
  const folder = createTestFolder()
  const agents = new Set(knownPrograms.map(({ name }) => name))
  for (const name of readdirSync('/usr/bin'))
    if (!agents.has(name)) symlinkSync(join('/usr/bin', name), join(folder, name))
  if (!readdirSync(folder).includes('node')) symlinkSync(process.execPath, join(folder, 'node'))
  return folder
}
