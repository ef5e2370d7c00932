import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { seriousIssues } from '../support/page.ts'
import { root } from '../support/paths.ts'
import { createTestFolder } from '../support/folder.ts'
import { createPageAgent, createRepository, createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

/** An agent that reaches its usage limit unless it was called before. */
function createLimitedAgent(control: string, calls = '') {
  mkdirSync(control)
  if (calls !== '') writeFileSync(join(control, 'calls'), calls)
  return `${process.execPath} ${join(root, 'test/fixtures/agents/limited-agent.mjs')} ${control}`
}

it('groups a fleet, keeps the view in the URL, acts on many agents, and tries a parked sprint now', async () => {
  const { origin, folder, project, api } = await serve()
  const limited = `command:${createLimitedAgent(join(folder, 'limited'))}`
  for (const name of ['ant', 'bee', 'cat', 'dog', 'eel']) {
    const path = join(project, name)
    createRepository(path)
    // One control folder each: the second call of a folder asks a question.
    const program = name === 'eel' ? limited : createPageAgent(folder).program
    await api.createAgent({ name, workspace: { kind: 'folder', path }, program })
  }
  await expect(
    api.createAgent({ name: 'outside', workspace: { kind: 'folder', path: '/etc' }, program: limited }),
  ).rejects.toMatchObject({ code: 'WORKSPACE_REFUSED' })
  const ids = new Map((await api.listAgents({})).items.map(({ agent }) => [agent.name, agent.id]))
  expect([...ids.keys()].toSorted()).toEqual(['ant', 'bee', 'cat', 'dog', 'eel', 'project'])
  const start = (name: string) =>
    api.startRalphMode({ agentId: ids.get(name) ?? '', taskDescription: `Count ${name}`, doneWhen: [] })
  const { sprintId } = await start('eel')
  await start('ant')
  await start('bee')

  // The address of the start works for a minute only.
  const { page, complaints, see } = await open((await api.makeTicket({})).address)
  await see('Count ant')
  await page.getByLabel('Group').selectOption('Group by state')
  expect(new URL(page.url()).searchParams.get('group')).toBe('state')
  await page.getByRole('row', { name: /^Running/ }).waitFor()
  await page.getByLabel('Order').selectOption('By name')
  await page.reload()
  await page.getByRole('row', { name: /^Idle/ }).waitFor()
  await page.getByLabel('Group').selectOption('Group by repository')
  await page.getByRole('row', { name: join(project, 'cat') }).waitFor()

  const bulk = page.getByRole('toolbar', { name: 'Selected agents' })
  await page.getByLabel('Select ant').check()
  await bulk.getByRole('button', { name: 'Pause' }).click()
  await page.getByRole('button', { name: 'Pause 1 agent' }).click()
  await see('1 agent will pause after its iteration')
  for (const name of ['ant', 'bee', 'cat']) await page.getByLabel(`Select ${name}`).check()
  await bulk.getByText('3 agents selected').waitFor()
  const issues = await seriousIssues(page)
  await bulk.getByRole('button', { name: 'Stop' }).click()
  await see('1 agent skipped')
  await page.getByRole('button', { name: 'Stop 2 agents' }).click()
  await see('2 agents stopped')
  const status = async (name: string) =>
    (await api.getAgent({ agentId: ids.get(name) ?? '' })).sprint?.status ?? 'no sprint'
  await expect.poll(async () => [await status('ant'), await status('bee')]).toEqual(['interrupted', 'interrupted'])
  await page.getByLabel('Select dog').check()
  await bulk.getByRole('button', { name: 'Archive' }).click()
  await page.getByRole('button', { name: 'Archive 1 agent' }).click()
  await page.getByRole('link', { name: 'dog' }).waitFor({ state: 'detached' })

  await page.goto(`${origin}/sprints/${sprintId}`)
  const card = page.getByRole('region', { name: 'Usage limit' })
  await card.getByText(/It resumes by itself at .+, in (59|60) min/).waitFor()
  const parkedIssues = await seriousIssues(page)
  await card.getByRole('button', { name: 'Try now' }).click()
  await page.getByText('Done', { exact: true }).first().waitFor()
  await card.waitFor({ state: 'detached' })
  expect({ issues, parkedIssues, complaints: complaints.lines }).toEqual({
    issues: [],
    parkedIssues: [],
    complaints: [],
  })
}, 300_000)

it('switches a parked sprint to another agent of its machine', async () => {
  const programs = createTestFolder()
  const claude = createLimitedAgent(join(programs, 'control'), 'call\n')
  const script = `#!/bin/sh\n[ "$1" = --version ] && echo '2.1.325 (Claude Code)' && exit\nexec ${claude}\n`
  writeFileSync(join(programs, 'claude'), script, { mode: 0o755 })
  const PATH = [programs, dirname(process.execPath), process.env['PATH']].join(delimiter)
  const { origin, folder, project, api } = await serve([], { PATH })
  const program = `command:${createLimitedAgent(join(folder, 'limited'))}`
  const { id } = await api.createAgent({ name: 'eel', workspace: { kind: 'folder', path: project }, program })
  // As the dialog starts it: with a program of its own, which the switch replaces too.
  const { sprintId } = await api.startRalphMode({ agentId: id, taskDescription: 'Count', doneWhen: [], program })

  const { page, complaints } = await open((await api.makeTicket({})).address)
  await page.goto(`${origin}/sprints/${sprintId}`)
  const card = page.getByRole('region', { name: 'Usage limit' })
  await card.getByRole('button', { name: 'Switch agent' }).click()
  await page.getByRole('menuitem', { name: /^claude/ }).click()
  await card.waitFor({ state: 'detached' })
  await page.getByText('Done', { exact: true }).first().waitFor()
  expect([(await api.getAgent({ agentId: id })).agent.program, complaints.lines]).toEqual(['claude', []])
}, 300_000)
