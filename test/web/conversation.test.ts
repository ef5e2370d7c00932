import { expect, it } from 'vitest'
import { createPageAgent, createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

it('shows what people say with name and time, lists what waits, withdraws it, and finds it', async () => {
  const { address, origin, folder, project, api } = await serve()
  const { program, release } = createPageAgent(folder)
  const agent = await api.createAgent({ name: 'counter', workspace: { kind: 'folder', path: project }, program })
  const { sprintId } = await api.startRalphMode({ agentId: agent.id, taskDescription: 'Count', doneWhen: [] })
  const { page, complaints, see } = await open(address)
  const {
    user: { name },
  } = await api.me({})
  await page.goto(`${origin}/sprints/${sprintId}`)
  await see('Turn 1: looking at the')
  const log = page.getByRole('log')
  const waiting = page.getByRole('list', { name: 'Messages that wait' })
  const say = async (text: string, button: 'Queue' | 'Steer now'): Promise<void> => {
    await page.getByLabel('Message to the agent').fill(text)
    await page.getByRole('button', { name: button }).click()
  }

  await say('Count in Roman numerals', 'Queue')
  await log.getByText('Count in Roman numerals').waitFor()
  expect(await log.getByText(`${name} says`).count()).toBe(1)
  await waiting.getByText('Count in Roman numerals').waitFor()
  await page.getByRole('button', { name: 'Withdraw “Count in Roman numerals”' }).click()
  await waiting.waitFor({ state: 'hidden' })
  await log.getByText(`${name} withdraws`).waitFor()

  await say('Count in blue', 'Queue')
  await waiting.getByText('Count in blue').waitFor()
  release(1)
  await page.getByRole('heading', { name: 'Which colour should the counter have?' }).waitFor()
  await page.getByLabel('Your answer').fill('blue, please')
  await page.getByRole('button', { name: 'Answer', exact: true }).click()
  await log.getByText('blue, please').waitFor()
  await log.getByText(`${name} answers`).waitFor()
  await see('Turn 3: looking at the')
  await waiting.waitFor({ state: 'hidden' })

  await page.getByLabel('Search the transcript').fill('Roman')
  await expect.poll(() => log.getByText('Turn 3: looking at the').count(), { timeout: 30_000 }).toBe(0)
  await log.getByText('Count in Roman numerals').first().waitFor()
  await page.getByLabel('Search the transcript').fill('')
  await see('Turn 3: looking at the')

  await say('Stop counting upwards', 'Steer now')
  await log.getByText(`${name} interrupts`).waitFor()
  await see('Turn 4: looking at the')
  expect(await log.getByText('running', { exact: true }).count()).toBe(0)
  await page.getByRole('button', { name: 'Stop', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Now' }).click()
  await log.getByText(`${name} stops`).waitFor()
  expect(complaints.lines).toEqual([])
}, 240_000)
