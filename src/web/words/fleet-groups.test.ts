import { expect, it } from 'vitest'
import { buildAgentRow, buildMachine } from '../../../test/support/fake-fleet.ts'
import { groupFleet } from './fleet-groups.ts'

const fast = { ...buildMachine('vm-1'), labels: ['gpu', 'arm'] }
const slow = buildMachine('vm-2')
const rows = [buildAgentRow('a', fast, {}), buildAgentRow('b', slow, {}), buildAgentRow('c', fast, {})]
const titles = (by: Parameters<typeof groupFleet>[1]): string[] =>
  groupFleet(rows, by, { machines: [fast, slow], now: 0 }).map((item) =>
    item.kind === 'group' ? `${item.title} (${item.count})` : item.row.agent.name,
  )

it('groups the fleet by machine or by label and keeps the order of the rows', () => {
  expect(titles(undefined)).toEqual(['a', 'b', 'c'])
  expect(titles('machine')).toEqual(['vm-1 (2)', 'a', 'c', 'vm-2 (1)', 'b'])
  expect(titles('label')).toEqual(['arm, gpu (2)', 'a', 'c', 'No label (1)', 'b'])
  expect(titles('state')).toEqual(['Idle (3)', 'a', 'b', 'c'])
})
