import { spawn } from 'node:child_process'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { findFreePort } from '../support/free-port.ts'
import { seriousIssues } from '../support/page.ts'
import { ralphProgram } from '../support/paths.ts'
import { createPageAgent, createServedPages, type PageUnderTest } from './served-page.ts'

const { serve, open } = createServedPages()

async function look(page: Page, place: string): Promise<string[]> {
  await page.locator('[aria-label=Loading]').first().waitFor({ state: 'detached' })
  const light = await seriousIssues(page)
  // Only colours depend on the scheme.
  await page.emulateMedia({ colorScheme: 'dark' })
  const dark = await seriousIssues(page, ['color-contrast'])
  await page.emulateMedia({ colorScheme: 'light' })
  return [...light, ...dark.map((issue) => `dark: ${issue}`)].map((issue) => `${place}: ${issue}`)
}

it('has no serious accessibility issue, no error and no policy violation on any route or in any dialog', async () => {
  const { origin, folder, project, api } = await serve()
  const { program, release } = createPageAgent(folder)
  const agent = await api.createAgent({ name: 'counter', workspace: { kind: 'folder', path: project }, program })
  const { sprintId } = await api.startRalphMode({ agentId: agent.id, taskDescription: 'Count', doneWhen: [] })
  await api.makeWebhook({ url: 'https://hooks.example.org/ralph', events: ['failed'] })
  await api.makeToken({ name: 'ci', scope: 'read', days: 1 })
  await api.setBudget({ scope: 'fleet', period: 'day', limitUsd: 5, hard: false })
  release(1)
  const { page, complaints } = await open((await api.makeTicket({})).address)
  await page.getByText('asks: Which colour should the counter have?').waitFor()

  const sprint = `/sprints/${sprintId}`
  const issues: string[] = []
  const places: [path: string, text: string][] = [
    ['/', 'asks: Which colour should the counter have?'],
    ...['', '?i=1', '?tab=changes', '?tab=iterations', '?tab=charts', '?tab=hooks'].map((search): [string, string] => [
      sprint + search,
      'Which colour should the counter have?',
    ]),
    ...['', '?tab=conversations', '?tab=access'].map((search): [string, string] => [
      `/agents/${agent.id}${search}`,
      'Past conversations',
    ]),
    ['/needs-you', 'Which colour should the counter have?'],
    ['/machines', 'last seen'],
    ['/usage', 'By agent and model'],
    ['/settings', 'API tokens'],
    ['/settings?tab=people', 'Users who may sign in'],
    ['/settings?tab=webhooks', 'https://hooks.example.org/ralph'],
    ['/settings?tab=deliveries', 'No deliveries yet'],
    ['/settings?tab=audit', 'counter'],
    ['/nowhere', 'Page not found'],
    ['/sign-in?refused=FORBIDDEN', 'Your account may not use this Ralph'],
  ]
  for (const [path, text] of places) {
    await page.goto(origin + path)
    await page.getByText(text).first().waitFor()
    issues.push(...(await look(page, path)))
  }

  const dialogs: Record<string, [path: string, act: () => Promise<void>]> = {
    start: ['/', () => page.keyboard.press('n')],
    'search and commands': ['/', () => page.keyboard.press('Control+k')],
    keys: ['/', () => page.keyboard.press('?')],
    message: [sprint, () => page.getByRole('button', { name: 'Message', exact: true }).click()],
    commit: [`${sprint}?tab=changes`, () => page.getByRole('button', { name: 'Commit…' }).click()],
    restore: [`${sprint}?i=1`, () => page.getByRole('button', { name: 'Restore to 1' }).click()],
    connect: ['/machines', () => page.getByRole('button', { name: 'Connect a machine' }).click()],
  }
  for (const [name, [path, act]] of Object.entries(dialogs)) {
    await page.goto(origin + path)
    await page
      .locator('main')
      .getByText(/counter|last seen/)
      .first()
      .waitFor()
    await act()
    const dialog = page.getByRole('dialog')
    await dialog.waitFor()
    issues.push(...(await look(page, `dialog ${name}`)))
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
  }
  expect({ issues, complaints: complaints.lines }).toEqual({ issues: [], complaints: [] })
}, 420_000)

it('joins a machine with the command that it shows, tests a webhook, and exports the audit log', async () => {
  const served = await serve(['--machines-port', `${await findFreePort()}`, '--machines-host', '127.0.0.1'])
  const { address, origin, folder, api } = served
  const { page, complaints, see } = await open(address, { acceptDownloads: true })
  await page.goto(`${origin}/machines`)
  await page.getByRole('button', { name: 'Connect a machine' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByRole('button', { name: 'Create a join token' }).click()
  const command = await dialog.getByText(/^ralph agents-server/).innerText()
  await dialog.getByText('Waiting for the machine').waitFor()
  runElsewhere(command, served)
  await dialog.getByText(/^Connected in/).waitFor()
  expect((await api.listMachines({})).items.filter(({ reachable }) => reachable).length).toBe(2)
  await page.keyboard.press('Escape')

  // A webhook goes to the internet only, and the page says why this one did not arrive.
  await page.goto(`${origin}/settings?tab=webhooks`)
  await page.getByLabel('Address').fill('https://127.0.0.1:9/hook')
  await page.getByRole('button', { name: 'Add webhook' }).click()
  await see('Signing secret; shown only once')
  await page.getByRole('button', { name: 'Send a test' }).click()
  await page.getByRole('tab', { name: 'Deliveries' }).click()
  await see(/internal address/)

  await page.getByRole('tab', { name: 'Audit' }).click()
  await see('created join token')
  await page.getByLabel('Filter by person, action or object').fill('joined')
  await expect.poll(() => page.getByRole('list', { name: 'Audit log' }).locator('> li').count()).toBe(1)
  const saved = page.waitForEvent('download')
  await page.getByRole('button', { name: 'CSV' }).click()
  const csv = join(folder, 'audit.csv')
  await (await saved).saveAs(csv)
  const [head, ...lines] = readFileSync(csv, 'utf8').trim().split('\r\n')
  expect([head, lines.length]).toEqual(['when,who,what,object,id,details', 1])
  expect(complaints.lines).toEqual([])
}, 240_000)

/** Runs a command as on another computer: with a home of its own. */
function runElsewhere(command: string, { folder, env }: PageUnderTest): void {
  const home = join(folder, 'elsewhere')
  mkdirSync(home)
  const line = command.replace(/^ralph /, `exec "${process.execPath}" "${ralphProgram}" `)
  const child = spawn('sh', ['-c', line], {
    cwd: home,
    detached: true,
    stdio: 'ignore',
    env: { ...env, HOME: home, RALPH_HOME: join(home, '.ralph') },
  })
  onTestFinished(async () => {
    const gone = new Promise((resolve) => child.once('close', resolve))
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM')
    await gone
  })
}
