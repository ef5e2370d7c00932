import { readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../support/folder.ts'
import { createPageAgent, createRepository, createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

it('starts the agent on screen from every place, and preselects none elsewhere; Modes has Ralph Mode (rows 154, 155)', async () => {
  const { address, origin, folder, project, api } = await serve()
  const { program, release } = createPageAgent(folder)
  createRepository(join(project, 'other'))
  const shown = await api.createAgent({ name: 'zebra', workspace: { kind: 'folder', path: project }, program })
  await api.createAgent({ name: 'ant', workspace: { kind: 'folder', path: join(project, 'other') }, program })
  const { page, complaints, see } = await open(address)
  const where = () => page.getByLabel('Where', { exact: true }).inputValue()
  const close = async () => {
    await page.keyboard.press('Escape')
    await page.getByLabel('Task').waitFor({ state: 'hidden' })
  }
  const ways: Record<string, () => Promise<void>> = {
    button: () => page.getByRole('banner').getByRole('button', { name: 'Start Ralph Mode' }).click(),
    key: () => page.keyboard.press('n'),
    palette: async () => {
      await page.keyboard.press('Control+k')
      await page.getByPlaceholder(/Go to an agent/).fill('start ralph')
      await page.keyboard.press('Enter')
    },
  }
  const found: Record<string, string> = {}
  const tryAll = async (place: string) => {
    for (const [way, press] of Object.entries(ways)) {
      await press()
      await page.getByLabel('Task').waitFor()
      found[`${place}, ${way}`] = await where()
      await close()
    }
  }
  await see('zebra')
  await tryAll('fleet')
  await page.goto(`${origin}/agents/${shown.id}`)
  await page.getByRole('heading', { name: 'zebra' }).waitFor()
  await tryAll('agent')
  await page.getByRole('button', { name: 'Modes' }).click()
  await page.getByRole('menuitem', { name: 'Ralph Mode' }).click()
  await page.getByLabel('Task').waitFor()
  expect(await where()).toContain('zebra')
  await close()
  const machine = (await api.listMachines({})).items[0]?.name ?? ''

  await page.keyboard.press('n')
  await page.getByLabel('Task').fill('Count')
  const button = page.getByRole('button', { name: /^Start on/ })
  expect(await button.textContent()).toBe(
    `Start on ${machine} in ${project}, its current branchup to 40 iterations, $10 cap`,
  )
  await button.click()
  await page.getByRole('heading', { name: 'Count' }).waitFor()
  await see('Turn 1: looking at the')
  await tryAll('sprint')
  await page.goto(`${origin}/machines`)
  await see('Connect a machine')
  await tryAll('machines')
  const mine = `zebra on ${machine}`
  expect(found).toEqual({
    ...Object.fromEntries(['button', 'key', 'palette'].map((way) => [`fleet, ${way}`, ''])),
    ...Object.fromEntries(['button', 'key', 'palette'].map((way) => [`agent, ${way}`, mine])),
    ...Object.fromEntries(['button', 'key', 'palette'].map((way) => [`sprint, ${way}`, mine])),
    ...Object.fromEntries(['button', 'key', 'palette'].map((way) => [`machines, ${way}`, ''])),
  })

  await page.keyboard.press('n')
  await page.getByLabel('Task').fill('Nowhere')
  await page.getByRole('button', { name: /^Start\b.*up to 40/ }).click()
  await page.getByRole('alert').getByText('Choose an agent').waitFor()
  await page.getByLabel('Where', { exact: true }).fill('an')
  await page.getByRole('option', { name: /^ant on/ }).click()
  await page.getByRole('button', { name: /^Start on .*\/other, its current branch/ }).waitFor()
  expect((await api.listSprints({})).items.length).toBe(1)
  release(1)
  expect(complaints.lines).toEqual([])
}, 240_000)

it('shows what the owner of the machine allows, and starts nothing that its policy refuses', async () => {
  const programs = createTestFolder()
  writeFileSync(join(programs, 'claude'), '#!/bin/sh\necho "2.0.0 (Claude Code)"\n', { mode: 0o755 })
  const PATH = `${programs}:${process.env['PATH']}`
  const { address, origin, folder, project, api } = await serve([], { PATH }, 'programs: [claude]\n')
  const { program, control } = createPageAgent(folder)
  const { id } = await api.createAgent({ name: 'zebra', workspace: { kind: 'folder', path: project }, program })
  const { page, see } = await open(address)
  await see('zebra')
  await page.keyboard.press('n')
  await page.getByLabel('Task').fill('Count')
  await page.getByLabel('Where', { exact: true }).fill('zeb')
  await page.getByRole('option', { name: /^zebra on/ }).click()
  const refusal = /the policy of this machine \(machine\.yaml\) does not allow the program/i
  await see(refusal)
  await page.getByLabel('Agent program').selectOption('claude')
  await page.getByText(/^The owner of .+ limits it \(machine\.yaml\)$/).click()
  const lines = page.getByRole('listitem').filter({ hasText: /^(?:programs|commands|widen|updates): / })
  expect(await lines.allTextContents()).toEqual([
    'programs: claude',
    'commands: none',
    'widen: false',
    'updates: false',
  ])

  const { sprintId } = await api.startRalphMode({ agentId: id, taskDescription: 'Count', doneWhen: [] })
  await page.goto(`${origin}/sprints/${sprintId}`)
  await see(refusal)
  expect(readdirSync(control)).toEqual([])
}, 240_000)
