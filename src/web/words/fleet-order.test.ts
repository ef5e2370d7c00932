import { expect, it } from 'vitest'
import { buildAgentRow, buildGlance, buildMachine } from '../../../test/support/fake-fleet.ts'
import { fleetOrders, sortFleet } from './fleet-order.ts'

const [one, two] = [buildMachine('vm-2'), buildMachine('vm-10')]
const rows = [
  buildAgentRow('svc-10', two, { sprint: buildGlance('x', { spentUsd: 1 }), lastEventAt: 3 }),
  buildAgentRow('svc-9', one, { sprint: buildGlance('x', { spentUsd: 5 }), lastEventAt: 1 }),
  buildAgentRow('api', two, { lastEventAt: 2 }),
]

it('sorts by name with numbers, by machine, by spend and by the newest event', () => {
  const names = Object.fromEntries(
    fleetOrders.map((order) => [order, sortFleet(rows, order, Date.now()).map(({ agent }) => agent.name)]),
  )
  expect(names).toMatchObject({
    name: ['api', 'svc-9', 'svc-10'],
    machine: ['svc-9', 'api', 'svc-10'],
    spend: ['svc-9', 'svc-10', 'api'],
    recent: ['svc-10', 'api', 'svc-9'],
  })
})
