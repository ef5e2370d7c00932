import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdir, readFile, rm } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import { createRequire } from 'node:module'
import { extname, join } from 'node:path'
import { promisify } from 'node:util'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { launchBrowser } from '../support/browser.ts'
import { root } from '../support/paths.ts'

const site = join(root, '.cache/docs')
const types: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
}
const pages = ['index', 'start/first-sprint', 'guides/agents', 'concepts/proof', 'reference/cli', 'decisions/index']

let browser: Browser
let server: Server
let origin = ''
beforeAll(async () => {
  await rm(site, { recursive: true, force: true })
  // No proxy leads anywhere, so a request to another host would fail the build.
  const env = { ...process.env, HTTP_PROXY: 'http://127.0.0.1:9', HTTPS_PROXY: 'http://127.0.0.1:9' }
  const vitepress = join(root, 'node_modules/vitepress/bin/vitepress.js')
  await promisify(execFile)(process.execPath, [vitepress, 'build', 'docs'], { cwd: root, env, maxBuffer: 2 ** 26 })
  server = createServer((request, response) => {
    const path = decodeURIComponent(new URL(request.url ?? '/', 'http://x').pathname)
    const file = join(site, path.endsWith('/') ? `${path}index.html` : path)
    readFile(file).then(
      (body) => response.writeHead(200, { 'content-type': types[extname(file)] ?? 'text/plain' }).end(body),
      () => response.writeHead(404).end(),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = z.object({ port: z.number() }).parse(server.address())
  origin = `http://127.0.0.1:${port}`
  browser = await launchBrowser()
}, 300_000)
afterAll(async () => {
  await browser.close()
  server.close()
}, 60_000)

describe.each(['light', 'dark'] as const)('the site in %s', (colorScheme) => {
  it.each(pages)(
    '%s has no serious axe finding and asks no other host',
    async (name) => {
      const page = await browser.newPage({ colorScheme, viewport: { width: 1280, height: 900 } })
      const strangers: string[] = []
      page.on('request', (request) => {
        if (!request.url().startsWith(origin) && !request.url().startsWith('data:')) strangers.push(request.url())
      })
      await page.goto(`${origin}/${name}.html`, { waitUntil: 'networkidle' })
      await page.evaluate(axeSource)
      const serious = await page.evaluate(
        `axe.run(document).then(({ violations }) => violations
          .filter(({ impact }) => impact === 'serious' || impact === 'critical')
          .flatMap(({ id, nodes }) => nodes.map(({ target }) => id + ' ' + target.join(' '))))`,
      )
      const folder = join(root, '.cache/docs-screens')
      await mkdir(folder, { recursive: true })
      await page.screenshot({ path: join(folder, `${name.replaceAll('/', '-')}-${colorScheme}.png`) })
      await page.close()
      expect({ serious, strangers }).toEqual({ serious: [], strangers: [] })
    },
    120_000,
  )
})

it('finds a word by its search, without a network', async () => {
  const page = await browser.newPage()
  await page.goto(`${origin}/index.html`, { waitUntil: 'networkidle' })
  await page.keyboard.press('Control+k')
  await page.getByRole('searchbox').or(page.locator('#localsearch-input')).first().fill('held-out')
  const found = page.locator('.result').first()
  await found.waitFor()
  expect(await found.textContent()).toMatch(/held-out/i)
  await page.close()
}, 120_000)

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
