import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../src/client/client.ts'
import { launchBrowser, watchPage } from '../support/browser.ts'
import { createTestFolder } from '../support/folder.ts'
import { buildPage, seriousIssues } from '../support/page.ts'
import { ralphProgram, root } from '../support/paths.ts'

let browser: Browser
let serving: ChildProcess | undefined

beforeAll(async () => {
  buildPage()
  browser = await launchBrowser()
}, 180_000)
afterAll(async () => {
  await browser.close()
  const gone = new Promise((resolve) => serving?.once('close', resolve))
  if (serving?.kill('SIGTERM') === true) await gone
}, 60_000)

const ServedAddress = z.object({ origin: z.string(), address: z.string() })

/** `ralph serve` in a project folder, as a user starts it: embedded database, built-in machine, no account. */
async function startServe() {
  const folder = createTestFolder()
  const [home, project, control] = ['home', 'project', 'control'].map((name) => join(folder, name))
  if (!home || !project || !control) throw new Error('three names')
  for (const path of [home, project, control]) mkdirSync(path)
  git(project, 'init', '-q')
  writeFileSync(join(project, 'counter.txt'), '0\n')
  git(project, 'add', '.')
  git(project, '-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-qm', 'start')
  const env = { ...process.env, HOME: home, RALPH_HOME: join(home, '.ralph'), DATABASE_URL: undefined }
  const child = spawn(process.execPath, [ralphProgram, 'serve', '--port', '0', '--json'], { cwd: project, env })
  serving = child
  const line = await new Promise<string>((resolve, reject) => {
    let [printed, failed] = ['', '']
    child.stderr.on('data', (text: Buffer) => (failed += text.toString()))
    child.stdout.on('data', (text: Buffer) => {
      printed += text.toString()
      if (printed.includes('\n')) resolve(printed)
    })
    child.once('close', () => reject(new Error(failed)))
  })
  const { origin, address } = ServedAddress.parse(JSON.parse(line))
  const served = readFileSync(join(home, '.ralph/backend/serve.json'), 'utf8')
  const { token } = z.object({ token: z.string() }).parse(JSON.parse(served))
  return { address, project, control, api: createClient({ baseUrl: origin, token }) }
}

const git = (cwd: string, ...args: readonly string[]) => execFileSync('git', args, { cwd })

it('starts Ralph Mode from the dropdown, watches, answers, pauses, resumes, stops and restores, on a real backend', async () => {
  const { address, project, control, api } = await startServe()
  const release = (call: number): void => writeFileSync(join(control, `release-${call}`), '')
  const agentProgram = join(root, 'test/fixtures/agents/page-agent.mjs')
  const program = `command:${process.execPath} ${agentProgram} ${control}`
  await expect
    .poll(async () => (await api.listMachines({})).items.some(({ reachable }) => reachable), { timeout: 60_000 })
    .toBe(true)
  await api.createAgent({ name: 'counter', workspace: { kind: 'folder', path: project }, program })

  const page: Page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
  page.setDefaultTimeout(60_000)
  const complaints = await watchPage(page)
  const see = (text: string | RegExp) => page.getByText(text).first().waitFor()
  const choose = async (menu: string, entry: string): Promise<void> => {
    await page.getByRole('button', { name: menu, exact: true }).click()
    await page.getByRole('menuitem', { name: entry }).click()
  }

  await page.goto(address)
  await page.getByRole('link', { name: 'counter' }).click()
  await choose('Modes', 'Ralph Mode')
  await page.getByLabel('Task').fill('Count as far as you can')
  await page.getByRole('button', { name: /^Start — up to 40 iterations, \$10 cap/ }).click()

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
