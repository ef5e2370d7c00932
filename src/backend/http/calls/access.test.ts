import { expect, it } from 'vitest'
import type { AccessLevel } from '../../../contract/fleet/user.ts'
import { isPermitted } from './access.ts'
import type { ApiCaller } from './call.ts'

const createTestCaller = (over: Partial<ApiCaller['user']> = {}, scope: ApiCaller['scope'] = 'admin'): ApiCaller => ({
  user: { id: '0197a000-0000-7000-8000-000000000001', name: 'ada', role: 'member', createdAt: 0, ...over },
  by: 'oidc',
  scope,
})

const needs = ['read', 'write', 'owner'] as const

it('allows what the access level includes, and nothing above it', () => {
  const table = ([undefined, 'read', 'write', 'owner'] as (AccessLevel | undefined)[]).map((level) => [
    level,
    needs.filter((needed) => isPermitted(createTestCaller(), needed, level)),
  ])
  expect(table).toEqual([
    [undefined, []],
    ['read', ['read']],
    ['write', ['read', 'write']],
    ['owner', ['read', 'write', 'owner']],
  ])
})

it('allows an admin everything', () => {
  const admin = createTestCaller({ role: 'admin' })
  expect([...needs, 'admin' as const].map((needed) => isPermitted(admin, needed))).toEqual([true, true, true, true])
})

it('limits a token to its scope', () => {
  const admin = createTestCaller({ role: 'admin' }, 'write')
  expect([...needs, 'admin' as const].map((needed) => isPermitted(admin, needed))).toEqual([true, true, false, false])
})

it('allows a disabled user nothing', () => {
  const out = createTestCaller({ role: 'admin', disabledAt: 1 })
  expect([...needs, 'admin' as const, 'signed-in' as const].some((needed) => isPermitted(out, needed))).toBe(false)
})
