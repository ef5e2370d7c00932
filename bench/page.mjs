// The page with a transcript of 150,000 events: time to first text, a jump to any place, navigation, scrolling, memory, bytes.
// npm run bench:page; exits with 1 if a promise is broken, unless the machine is too busy to tell (--report).
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { runnerImport } from 'vite'
import { buildPage } from '../scripts/build-page.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const support = async (file) =>
  (await runnerImport(join(root, 'test/support', file), { configFile: false, root, logLevel: 'error' })).module
const { startFakeApi } = await support('fake-api.ts')
const { busyFleet } = await support('fake-busy.ts')
const { longTranscript } = await support('fake-transcript.ts')
const { launchBrowser } = await support('browser.ts')

await buildPage()
const fleet = busyFleet()
const [sprint] = fleet.sprints
fleet.events.set(sprint.id, longTranscript(sprint, 150_000))
const fake = await startFakeApi(fleet)
const browser = await launchBrowser()
const page = await browser.newPage({ viewport: { width: 1400, height: 900 } })
await page.addInitScript(`
  const look = () => document.querySelector('[role=log] [data-index]') ? (window.firstContent = performance.now()) : requestAnimationFrame(look)
  requestAnimationFrame(look)`)

const broken = []
const opened = []
const loaded = new Set()
page.on('response', (response) => loaded.add(new URL(response.url()).pathname))
// What a user opens first is the fleet.
await page.goto(fake.url)
await page.getByText('spent today').waitFor()
const first = [...loaded]
for (let run = 0; run < 5; run += 1) {
  await page.goto(`${fake.url}/sprints/${sprint.id}`)
  await page.locator('[role=log] [data-index]').first().waitFor()
  await page.waitForTimeout(300)
  opened.push(Math.round(await page.evaluate('window.firstContent')))
}
print('first content of the transcript, ms (5 openings)', opened.join(' '))
requireAtMost('open, ms (best of 5; at most 1000)', Math.min(...opened), 1000)

const jumps = []
for (const seq of [1000, 75_000, 140_000, 20_000, 110_000, 0]) {
  const began = performance.now()
  await page.getByLabel('Place in the transcript').fill(String(seq))
  await page.getByText(`Thought number ${seq}.`, { exact: false }).first().waitFor()
  jumps.push(Math.round(performance.now() - began))
}
print('jump to any event, ms', jumps.join(' '))
requireAtMost(
  'jump, ms (median; at most 200)',
  percentile(
    [...jumps].toSorted((a, b) => a - b),
    0.5,
  ),
  200,
)

const moves = []
for (const [name, text] of [
  ['Machines', 'Connect a machine'],
  ['Spend', 'By agent and model'],
  ['Settings', 'API tokens'],
]) {
  await page.getByRole('navigation').getByRole('link', { name }).hover()
  await page.waitForTimeout(200)
  const began = performance.now()
  await page.getByRole('navigation').getByRole('link', { name }).click()
  await page.getByText(text).first().waitFor()
  moves.push(Math.round(performance.now() - began))
}
print('navigation, ms', moves.join(' '))
requireAtMost(
  'navigation, ms (median; at most 100)',
  percentile(
    [...moves].toSorted((a, b) => a - b),
    0.5,
  ),
  100,
)
await page.goto(`${fake.url}/sprints/${sprint.id}`)
await page.locator('[role=log] [data-index]').first().waitFor()

await page.evaluate(`
  window.frames_ = []; let last = performance.now()
  const count = (now) => { window.frames_.push(now - last); last = now; requestAnimationFrame(count) }
  requestAnimationFrame(count)`)
const session = await page.context().newCDPSession(page)
await session.send('Performance.enable')
const busy = async () =>
  (await session.send('Performance.getMetrics')).metrics.find(({ name }) => name === 'TaskDuration').value
await page.locator('[role=log]').hover()
const before = await busy()
const began = performance.now()
for (let step = 0; step < 150; step += 1) {
  await page.mouse.wheel(0, -160)
  await page.waitForTimeout(16)
}
const seconds = (performance.now() - began) / 1000
const frames = (await page.evaluate('window.frames_')).toSorted((a, b) => a - b)
print('frames per second while scrolling back', Math.round(frames.length / seconds))
print('frame time, ms: median, 95 %', `${Math.round(percentile(frames, 0.5))}, ${Math.round(percentile(frames, 0.95))}`)
print('main thread busy while scrolling', `${Math.round((((await busy()) - before) / seconds) * 100)} %`)

for (let step = 0; step < 300; step += 1) await page.mouse.wheel(0, -4000)
await page.waitForTimeout(3000)
await session.send('HeapProfiler.collectGarbage')
const { usedSize } = await session.send('Runtime.getHeapUsage')
print('heap after reading far back, MB', Math.round(usedSize / 1e6))
print('rows in the document', await page.locator('[role=log] [data-index]').count())
const firstView = kilobytes(first.filter((path) => path.startsWith('/assets/')))
requireAtMost('scripts and styles of the first view, kB gzip (at most 300)', firstView, 300)
print(
  'all scripts and styles, kB gzip',
  kilobytes(readdirSync(join(root, 'dist/web/assets')).map((name) => `/assets/${name}`)),
)
await browser.close()
await fake.close()
if (broken.length > 0 && !process.argv.includes('--report')) {
  console.error(`broken: ${broken.join('; ')}`)
  process.exitCode = 1
}

function requireAtMost(what, value, limit) {
  print(what, value)
  if (value > limit) broken.push(`${what}: ${value}`)
}

function percentile(sorted, part) {
  return sorted[Math.floor(sorted.length * part)]
}

function kilobytes(paths) {
  const sizes = paths.map((path) => gzipSync(readFileSync(join(root, 'dist/web', path))).length)
  return Math.round(sizes.reduce((sum, size) => sum + size, 0) / 1000)
}

function print(what, value) {
  console.log(`${what.padEnd(58)} ${value}`)
}
