import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createPushReceiver } from '../support/push-receiver.ts'
import { root } from '../support/paths.ts'
import { createPageAgent, createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

it('is installable, subscribes a browser, shows a question, and sends the answer of its button', async () => {
  const { address, origin, folder, project, api } = await serve()
  const { program, release } = createPageAgent(folder)
  const agent = await api.createAgent({ name: 'counter', workspace: { kind: 'folder', path: project }, program })
  const { sprintId } = await api.startRalphMode({ agentId: agent.id, taskDescription: 'Count', doneWhen: [] })
  const { page, complaints, see } = await open(address)
  await page.context().grantPermissions(['notifications'], { origin })

  const manifest = await page.evaluate<{ icons: { src: string; sizes: string }[]; display: string }>(
    `fetch(document.querySelector('link[rel=manifest]').href).then((answer) => answer.json())`,
  )
  expect(manifest.display).toBe('standalone')
  for (const { src, sizes } of manifest.icons.filter(({ src: icon }) => icon.endsWith('.png'))) {
    const png = readFileSync(join(root, 'src/web/public', src))
    expect(`${png.readUInt32BE(16)}x${png.readUInt32BE(20)}`).toBe(sizes)
    expect(await page.evaluate<number>(`fetch('${src}').then((answer) => answer.status)`)).toBe(200)
  }

  // No push service is reachable here: the page notifies while it is open, and says so.
  await page.goto(`${origin}/needs-you`)
  await page.getByRole('button', { name: 'Notify me in this browser' }).click()
  await page.getByRole('button', { name: 'Notifies you while a page is open' }).click()
  await page.getByRole('button', { name: 'Notify me in this browser' }).waitFor()

  // So the browser gets a subscription of the test: an address of this computer.
  const browser = createPushReceiver()
  const subscription = { endpoint: 'https://127.0.0.1:9/push', keys: { p256dh: browser.p256dh, auth: browser.auth } }
  await page.evaluate(`
    window.subscribed = undefined
    PushManager.prototype.subscribe = async (options) => ((window.subscribed = options), {
      endpoint: '${subscription.endpoint}', toJSON: () => (${JSON.stringify(subscription)}), unsubscribe: async () => true })`)
  await page.getByRole('button', { name: 'Notify me in this browser' }).click()
  await page.getByRole('button', { name: 'This browser notifies you' }).waitFor()
  const { publicKey } = await api.getPushKey({})
  expect(await page.evaluate('window.subscribed')).toEqual({ userVisibleOnly: true, applicationServerKey: publicKey })
  await expect(api.subscribeToPush({ ...subscription, endpoint: 'http://push.example.com' })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  })
  await expect(api.subscribeToPush({ ...subscription, keys: { p256dh: 'AAAA', auth: 'AAAA' } })).rejects.toMatchObject({
    code: 'INVALID_REQUEST',
  })

  release(1)
  await page.getByRole('heading', { name: 'Which colour should the counter have?' }).waitFor()
  // A push goes to the internet only, never into the network of the backend.
  const pushed = async () =>
    (await api.listDeliveries({ limit: 50 })).items.flatMap(({ via, event, to, error }) =>
      via === 'push' ? [{ event, to, error }] : [],
    )
  await expect
    .poll(pushed, { timeout: 30_000 })
    .toEqual([{ event: 'needs-human', to: '127.0.0.1:9', error: '127.0.0.1 is an internal address (127.0.0.1)' }])

  const [worker] = page.context().serviceWorkers()
  if (!worker) throw new Error('no service worker')
  const message = {
    title: 'counter asks',
    text: 'Which colour?',
    tag: 't',
    path: `/sprints/${sprintId}`,
    sprintId,
    answers: ['blue', 'red'],
  }
  // A message as Chromium's own push client delivers it. The headless browser keeps no notifications, so the worker records them.
  await worker.evaluate(
    `self.shown = []; self.registration.showNotification = async (title, options) => void self.shown.push({ title, ...options })`,
  )
  const devtools = await page.context().newCDPSession(page)
  const registration = new Promise<string>((resolve) =>
    devtools.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      const [found] = registrations
      if (found) resolve(found.registrationId)
    }),
  )
  await devtools.send('ServiceWorker.enable')
  const registrationId = await registration
  await devtools.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data: JSON.stringify(message) })
  const readShown = () =>
    worker.evaluate<unknown[]>(`self.shown.map(({ title, body, actions }) => ({ title, body, actions }))`)
  await expect.poll(readShown).toHaveLength(1)
  const shown = await readShown()
  expect(shown).toEqual([
    {
      title: 'counter asks',
      body: 'Which colour?',
      actions: [
        { action: 'answer-0', title: 'blue' },
        { action: 'answer-1', title: 'red' },
      ],
    },
  ])
  const click = (action: string) =>
    worker.evaluate(`(async () => {
      const seen = []
      self.registration.showNotification = async (title, options) => void seen.push(options.body)
      const notification = { close() {}, data: ${JSON.stringify({ ...message })} }
      const event = Object.assign(new ExtendableEvent('notificationclick'), { notification, action: '${action}' })
      const done = new Promise((resolve) => (event.waitUntil = (work) => resolve(work)))
      self.dispatchEvent(event)
      await done
      return seen
    })()`)
  expect(await click('answer-0')).toEqual([])
  await page.goto(`${origin}/sprints/${sprintId}`)
  await see('Turn 3: looking at the')
  await page.getByRole('log').getByText('blue', { exact: true }).first().waitFor()
  // The second answer comes too late, and the user learns it.
  const refusal = /^Your answer was not accepted: .+ has already answered this question: “blue”$/
  expect(await click('answer-1')).toEqual([expect.stringMatching(refusal)])
  // Contexts of Playwright are incognito windows, in which Chromium has no push service.
  expect(complaints.lines.filter((line) => !line.includes('Push API in incognito mode'))).toEqual([])
}, 240_000)
