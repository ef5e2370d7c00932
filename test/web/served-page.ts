import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest'
import { z } from 'zod'
import { createClient, type Client } from '../../src/client/client.ts'
import { type Complaints, launchBrowser, watchPage } from '../support/browser.ts'
import { buildPage } from '../support/page.ts'
import { ralphProgram, root } from '../support/paths.ts'

const ServedAddress = z.object({ origin: z.string(), address: z.string() })

export type PageUnderTest = {
  readonly address: string
  readonly origin: string
  readonly folder: string
  readonly project: string
  readonly api: Client
  readonly env: NodeJS.ProcessEnv
}

/** One browser for a file of tests, and any number of `ralph serve` as a user starts them. */
export function createServedPages(browserOptions: Parameters<typeof launchBrowser>[0] = {}) {
  let browser: Browser
  beforeAll(async () => {
    buildPage()
    browser = await launchBrowser(browserOptions)
  }, 180_000)
  afterAll(async () => {
    await browser.close()
  }, 60_000)
  return {
    browser: () => browser,
    /** In a project folder: embedded database, built-in machine, no account. */
    serve: async (
      args: readonly string[] = [],
      more: NodeJS.ProcessEnv = {},
      machinePolicy?: string,
    ): Promise<PageUnderTest> => {
      const folder = realpathSync(mkdtempSync(join(tmpdir(), 'ralph-test-')))
      const [home, project] = [join(folder, 'home'), join(folder, 'project')]
      mkdirSync(join(home, '.ralph'), { recursive: true })
      if (machinePolicy !== undefined) writeFileSync(join(home, '.ralph/machine.yaml'), machinePolicy)
      createRepository(project)
      const env = { ...process.env, HOME: home, RALPH_HOME: join(home, '.ralph'), DATABASE_URL: undefined, ...more }
      const child = spawn(process.execPath, [ralphProgram, 'serve', '--port', '0', '--json', ...args], {
        cwd: project,
        env,
      })
      // The program ends before its folder is removed: it writes until then.
      onTestFinished(async () => {
        await endProgram(child)
        rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
      }, 60_000)
      const { origin, address } = ServedAddress.parse(JSON.parse(await firstLine(child)))
      const served = readFileSync(join(home, '.ralph/backend/serve.json'), 'utf8')
      const { token } = z.object({ token: z.string() }).parse(JSON.parse(served))
      const api = createClient({ baseUrl: origin, token })
      await expect
        .poll(async () => (await api.listMachines({})).items.some(({ reachable }) => reachable), { timeout: 60_000 })
        .toBe(true)
      return { address, origin, folder, project, api, env }
    },
    /** Opens an address with a ticket and waits until the page is signed in: a navigation before that loses the session. */
    open: async (
      address: string,
      options: Parameters<Browser['newPage']>[0] = {},
    ): Promise<{ page: Page; complaints: Complaints; see: (text: string | RegExp) => Promise<void> }> => {
      const page = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options })
      page.setDefaultTimeout(60_000)
      const complaints = await watchPage(page)
      await page.goto(address)
      await waitForSignIn(page)
      return { page, complaints, see: (text) => page.getByText(text).first().waitFor() }
    },
  }
}

/** Only the frame of a signed-in page has a button to start; the sign-in page also names Ralph. */
export const waitForSignIn = (page: Page): Promise<void> =>
  page.getByRole('banner').getByRole('button', { name: 'Start Ralph Mode' }).waitFor()

/** A repository with one commit and a counter. */
export function createRepository(path: string): void {
  mkdirSync(path, { recursive: true })
  const git = (...args: readonly string[]) => execFileSync('git', args, { cwd: path })
  git('init', '-q', '-b', 'main')
  writeFileSync(join(path, 'counter.txt'), '0\n')
  git('add', '.')
  git('-c', 'user.name=a', '-c', 'user.email=a@example.org', 'commit', '-qm', 'start')
}

/** The command of an agent that waits at the end of each turn until its test releases it. */
export function createPageAgent(folder: string) {
  const control = join(folder, `control-${Math.random().toString(36).slice(2)}`)
  mkdirSync(control)
  const program = join(root, 'test/fixtures/agents/page-agent.mjs')
  return {
    program: `command:${process.execPath} ${program} ${control}`,
    control,
    release: (call: number): void => writeFileSync(join(control, `release-${call}`), ''),
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let [printed, failed] = ['', '']
    child.stderr?.on('data', (text: Buffer) => (failed += text.toString()))
    child.stdout?.on('data', (text: Buffer) => {
      printed += text.toString()
      if (printed.includes('\n')) resolve(printed)
    })
    child.once('close', () => reject(new Error(failed)))
  })
}

async function endProgram(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGTERM')
  await gone
}
