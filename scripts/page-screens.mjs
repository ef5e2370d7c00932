// Screenshots of every page, with the recorded backend of the tests: three widths, light and dark; busy, empty, failing, printed.
// Usage: node scripts/page-screens.mjs [folder]     all of them; default folder: .cache/page-screens; `npm run screens` does this
//        node scripts/page-screens.mjs --readme     those of the README and the guide, into docs/images
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runnerImport } from 'vite'
import { buildPage } from './build-page.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const support = async (file) =>
  (await runnerImport(join(root, 'test/support', file), { configFile: false, root, logLevel: 'error' })).module

const { startFakeApi } = await support('fake-api.ts')
const { busyFleet } = await support('fake-busy.ts')
const { launchBrowser } = await support('browser.ts')
const { RalphError } = (await runnerImport(join(root, 'src/contract/errors.ts'), { configFile: false, root })).module

const desktop = { viewport: { width: 1280, height: 900 } }
const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
const wide = { viewport: { width: 2560, height: 1440 } }
const dark = { colorScheme: 'dark' }
const looks = {
  light: desktop,
  dark: { ...desktop, ...dark },
  phone,
  'phone-dark': { ...phone, ...dark },
  wide,
  'wide-dark': { ...wide, ...dark },
}

const pages = {
  fleet: '/',
  sprint: '/sprints/SPRINT?i=8&event=%22EDIT%22',
  'sprint-live': '/sprints/SPRINT',
  'sprint-changes': '/sprints/SPRINT?i=8&tab=changes',
  'sprint-receipts': '/sprints/SPRINT?tab=iterations',
  'sprint-charts': '/sprints/SPRINT?tab=charts',
  'sprint-hooks': '/sprints/SPRINT?tab=hooks',
  'sprint-asks': '/sprints/ASKING',
  agent: '/agents/AGENT',
  'agent-conversations': '/agents/AGENT?tab=conversations',
  'agent-access': '/agents/AGENT?tab=access',
  start: '/?start=AGENT',
  'needs-you': '/needs-you',
  machines: '/machines',
  spend: '/usage',
  settings: '/settings',
  'settings-webhooks': '/settings?tab=webhooks',
  'settings-deliveries': '/settings?tab=deliveries',
  'settings-audit': '/settings?tab=audit',
  'settings-people': '/settings?tab=people',
  'sign-in': '/sign-in',
  unknown: '/agents/0198b6a0-0000-7000-8000-000000000000',
}

const emptyFleet = () => ({
  machines: [],
  agents: [],
  sprints: [],
  iterations: new Map(),
  events: new Map(),
  prompts: [],
  questions: [],
})
const emptyPages = ['fleet', 'needs-you', 'machines', 'spend']
const failingPages = ['fleet', 'sprint', 'needs-you', 'machines', 'spend']

await buildPage()
const browser = await launchBrowser()
const readme = process.argv[2] === '--readme'
const folder = readme ? join(root, 'docs/images') : (process.argv[2] ?? join(root, '.cache/page-screens'))
mkdirSync(folder, { recursive: true })
if (readme)
  await inFleet(busyFleet(), (fake) =>
    Promise.all([
      shoot(fake, 'fleet', 'light', 'page-fleet'),
      shoot(fake, 'sprint', 'light', 'page-sprint'),
      shoot(fake, 'sprint-live', 'phone', 'page-phone'),
    ]),
  )
else {
  await inFleet(busyFleet(), async (fake) => {
    for (const look of Object.keys(looks))
      for (const page of Object.keys(pages)) await shoot(fake, page, look, `${page}-${look}`)
  })
  await inFleet(emptyFleet(), async (fake) => {
    for (const page of emptyPages) await shoot(fake, page, 'light', `${page}-empty`)
  })
  await inFleet(busyFleet(), async (fake) => {
    for (const name of ['listAgents', 'getSprint', 'listQuestions', 'listMachines', 'usage'])
      fake.failing.set(
        name,
        new RalphError('INTERNAL', 'the database does not answer', {
          hint: 'It may be starting; look at the log of the backend.',
        }),
      )
    for (const page of failingPages) await shoot(fake, page, 'light', `${page}-error`)
  })
}
await browser.close()
console.log(`pictures are in ${folder}`)

async function inFleet(fleet, use) {
  const fake = await startFakeApi(fleet)
  await use(fake)
  await fake.close()
}

async function shoot(fake, name, look, file) {
  const [sprint, asking] = fake.fleet.sprints
  const page = await browser.newPage({ ...looks[look], reducedMotion: 'reduce' })
  const path = pages[name]
    .replace('SPRINT', sprint?.id ?? '')
    .replace('ASKING', asking?.id ?? '')
    .replace('AGENT', sprint?.agentId ?? '')
    .replace('EDIT', createEdit(fake, sprint))
  await page.goto(fake.url + path)
  await page.locator('main').waitFor()
  await page.locator('[aria-label=Loading]').waitFor({ state: 'detached' })
  await page.waitForTimeout(400)
  await page.screenshot({ path: join(folder, `${file}.png`) })
  if (look === 'dark' && !readme) await page.pdf({ path: join(folder, `${name}-print.pdf`), format: 'A4' })
  await page.close()
}

/** The event that starts the edit, which the inspector shows as a diff. */
function createEdit(fake, sprint) {
  const events = sprint && fake.fleet.events.get(sprint.id)
  if (!events) return ''
  for (let seq = 0; seq < events.count; seq += 1) {
    const { id, event } = events.at(seq)
    if (event.type === 'agent' && event.event.kind === 'tool' && event.event.name === 'Edit') return id
  }
  return ''
}
