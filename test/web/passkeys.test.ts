import { expect, it } from 'vitest'
import { createClient } from '../../src/client/client.ts'
import { findFreePort } from '../support/free-port.ts'
import { seriousIssues } from '../support/page.ts'
import { createServedPages } from './served-page.ts'

const { serve, open } = createServedPages()

it('signs an invited user in again with a passkey, and gives none to limited credentials', async () => {
  const port = await findFreePort()
  const origin = `http://localhost:${port}`
  const args = ['--port', `${port}`, '--origin', origin, '--behind-proxy', '--invitations']
  const { api } = await serve(args)
  const { address } = await api.inviteUser({ name: 'grace' })
  expect(new URL(address).origin).toBe(origin)

  const { page, complaints, see } = await open(address)
  const devtools = await page.context().newCDPSession(page)
  await devtools.send('WebAuthn.enable')
  await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  await page.getByRole('link', { name: 'Settings' }).first().click()
  await page.getByLabel('New passkey').fill('My laptop')
  await page.getByRole('button', { name: 'Add a passkey' }).click()
  await page.getByRole('button', { name: 'Remove My laptop' }).waitFor()
  const issues = await seriousIssues(page)

  // The same browser without its session, as after a week.
  await page.context().clearCookies()
  await page.goto(`${origin}/sign-in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await page.waitForURL(`${origin}/`)
  await page.getByRole('link', { name: 'Settings' }).first().click()
  await see('signed in with a passkey')
  await page.getByRole('button', { name: 'Remove My laptop' }).click()
  await page.getByRole('button', { name: 'Remove My laptop' }).waitFor({ state: 'detached' })
  await page.context().clearCookies()
  await page.goto(`${origin}/sign-in`)
  await page.getByRole('button', { name: 'Sign in with a passkey' }).click()
  await see('this passkey is not known here')
  expect({ issues, complaints: complaints.lines.filter((line) => !line.includes('401')) }).toEqual({
    issues: [],
    complaints: [],
  })

  const { token } = await api.makeToken({ name: 'script', scope: 'admin', days: 1 })
  const script = createClient({ baseUrl: origin, token })
  await expect(script.prepareNewPasskey({})).rejects.toMatchObject({ code: 'FORBIDDEN' })
  const { items } = await api.listAudit({})
  expect(items.map(({ what }) => what)).toEqual(expect.arrayContaining(['addPasskey', 'signIn', 'signInRefused']))
}, 240_000)

it('shows budgets with their state, and an admin sets and removes them', async () => {
  const { address, api } = await serve()
  const { page, complaints, see } = await open(address)
  await page.goto(new URL('/usage', address).href)
  await page.getByLabel('USD').fill('25')
  await page.getByLabel('Each').selectOption('day')
  await page.getByRole('button', { name: 'Set budget' }).click()
  await see('$0.00 of $25')
  expect((await api.listBudgets({})).items).toMatchObject([{ scope: 'fleet', period: 'day', limitUsd: 25, hard: true }])
  await page.getByLabel('USD').fill('0')
  await page.getByRole('button', { name: 'Set budget' }).click()
  await see('Spent: new prompts wait')
  const issues = await seriousIssues(page)
  await page.getByRole('button', { name: 'Remove the budget: The fleet, each day' }).click()
  await page.getByText('Spent: new prompts wait').waitFor({ state: 'detached' })
  expect({ issues, complaints: complaints.lines, left: (await api.listBudgets({})).items }).toEqual({
    issues: [],
    complaints: [],
    left: [],
  })
}, 240_000)
