import { expect, it } from 'vitest'
import { proposeNetwork, proposeRoom } from './propose-room.ts'

it.each([
  [
    'an ignored file that the output names',
    ['.env.test', 'notes.txt'],
    "ENOENT: no such file '.env.test'",
    'copy: [.env.test]',
  ],
  ['generated files', ['src/generated/a.ts', 'src/generated/b.ts'], 'exit 1', 'copy: [src/generated]'],
  ['the network', [], 'connect ECONNREFUSED 127.0.0.1:5432', 'network: true'],
  ['packages', [], "Error: Cannot find module 'left-pad'", 'install: '],
  ['something unknown', [], 'exit 1', 'copy: […], install: …, network: true'],
])('proposes what the room lacks: %s', (_, omitted, output, setting) => {
  expect(proposeRoom({ omitted, output })).toContain(`room: {${setting}`)
})

it('says how a check reaches a service, in the room or in the work tree', () => {
  const output = "errno: -111,\n code: 'ECONNREFUSED',\n address: '127.0.0.1',\n port: 5432"
  expect(proposeNetwork(output, false)).toContain(`"room: {network: true, services: ['localhost:5432']}"`)
  expect(proposeNetwork('connect ECONNREFUSED 127.0.0.1:5432', true)).toContain(
    `"network: {private: ['localhost:5432']}"`,
  )
  expect(proposeNetwork('AssertionError: 1 is not 2', false)).toBeUndefined()
})
