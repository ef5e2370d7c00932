import { expect, it } from 'vitest'
import { createAuthority, createKeyAndRequest, openAuthority } from '../connection/authority.ts'
import { isRenewalDue } from './remote-agents-server.ts'

it('renews a certificate after two thirds of its lifetime', async () => {
  const now = Date.now()
  const authority = openAuthority(await createAuthority(now))
  const { csr } = await createKeyAndRequest('machine')
  const { certificate, expiresAt } = await authority.issueForMachine(csr, '00000000-0000-4000-8000-000000000001', now)
  const hours = (count: number) => now + count * 3_600_000
  expect(Math.round((expiresAt - now) / 3_600_000)).toBe(24)
  expect([
    isRenewalDue(certificate, now),
    isRenewalDue(certificate, hours(15.5)),
    isRenewalDue(certificate, hours(16.5)),
  ]).toEqual([false, false, true])
})
