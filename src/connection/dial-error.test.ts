import { expect, it } from 'vitest'
import { explainDialError } from './dial-error.ts'

const dial = { host: 'backend', port: 8443, credentials: { certificate: '', key: '' }, authorities: '' }

it('says why every address of a host refuses the connection', () => {
  const refused = ['::1', '127.0.0.1'].map((address) => new Error(`connect ECONNREFUSED ${address}:8443`))
  expect(explainDialError(new AggregateError(refused), dial).message).toBe('connect ECONNREFUSED ::1:8443')
  expect(explainDialError(new AggregateError(refused, 'no address answers'), dial).message).toBe('no address answers')
})
