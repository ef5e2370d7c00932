import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { type Complaints, launchBrowser, watchPage } from '../support/browser.ts'
import { type FakeApi, startFakeApi } from '../support/fake-api.ts'
import { busyFleet } from '../support/fake-busy.ts'
import type { Fleet } from '../support/fake-fleet.ts'
import { buildPage } from '../support/page.ts'

/** A page in a real browser with a fake backend: one browser per file, page and backend per test. */
export function createTestPage() {
  let browser: Browser
  let fake: FakeApi
  let page: Page
  let complaints: Complaints
  beforeAll(async () => {
    buildPage()
    browser = await launchBrowser()
  }, 180_000)
  afterAll(() => browser.close())
  afterEach(async () => {
    await page.close()
    await fake.close()
  })
  return {
    page: () => page,
    fake: () => fake,
    complaints: () => complaints.lines,
    open: async (path: string, fleet: Fleet = busyFleet(), options: Parameters<Browser['newPage']>[0] = {}) => {
      fake = await startFakeApi(fleet)
      page = await browser.newPage({ viewport: { width: 1400, height: 900 }, ...options })
      page.setDefaultTimeout(60_000)
      complaints = await watchPage(page)
      await page.goto(fake.url + path)
    },
    go: async (path: string) => void (await page.goto(fake.url + path)),
    see: (text: string | RegExp) => page.getByText(text).first().waitFor(),
  }
}
