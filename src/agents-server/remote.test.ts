import { expect, it } from 'vitest'
import { makeAuthority, newKeyAndRequest, openAuthority } from '../channel/authority.ts'
import { isDue } from './remote.ts'

it('renews a certificate after two thirds of its lifetime', async () => {
  const now = Date.now()
  const authority = openAuthority(await makeAuthority(now))
  const { csr } = await newKeyAndRequest('machine')
  const { certificate, expiresAt } = await authority.forMachine(csr, '00000000-0000-4000-8000-000000000001', now)
  const hours = (count: number) => now + count * 3_600_000
  expect(Math.round((expiresAt - now) / 3_600_000)).toBe(24)
  expect([isDue(certificate, now), isDue(certificate, hours(15.5)), isDue(certificate, hours(16.5))]).toEqual([
    false,
    false,
    true,
  ])
})
