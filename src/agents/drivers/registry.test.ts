import { expect, it } from 'vitest'
import { RalphError } from '../../contract/errors.ts'
import { getDriver, drivers } from './registry.ts'

const findRefusal = (name: string): unknown => {
  try {
    return getDriver(name)
  } catch (error) {
    return error
  }
}

it('finds every driver by its name', () => {
  expect([...drivers.keys()].map((name) => getDriver(name).name)).toEqual([...drivers.keys()])
})

it.each([
  ['cluade', 'claude'],
  ['Claude', 'claude'],
  ['codx', 'codex'],
])('suggests for %s: %s', (typed, meant) => {
  const refusal = findRefusal(typed)

  expect(refusal).toBeInstanceOf(RalphError)
  expect(refusal).toMatchObject({
    code: 'AGENT_UNKNOWN',
    message: `there is no agent "${typed}"; did you mean "${meant}"?`,
  })
})

it('lists all agents if no name is similar', () => {
  expect(findRefusal('zebra')).toMatchObject({
    code: 'AGENT_UNKNOWN',
    message: 'there is no agent "zebra"',
    hint: `known agents: ${[...drivers.keys()].join(', ')}; any other program: acp:<program> or command:<program>`,
  })
})
