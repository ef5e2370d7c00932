import { expect, it } from 'vitest'
import { RalphError } from '../../contract/errors.ts'
import { driverNamed, drivers } from './registry.ts'

const refusalOf = (name: string): unknown => {
  try {
    return driverNamed(name)
  } catch (error) {
    return error
  }
}

it('finds every driver by its name', () => {
  expect([...drivers.keys()].map((name) => driverNamed(name).name)).toEqual([...drivers.keys()])
})

it.each([
  ['cluade', 'claude'],
  ['Claude', 'claude'],
  ['codx', 'codex'],
])('suggests for %s: %s', (typed, meant) => {
  const refusal = refusalOf(typed)

  expect(refusal).toBeInstanceOf(RalphError)
  expect(refusal).toMatchObject({
    code: 'AGENT_UNKNOWN',
    message: `there is no agent "${typed}"; did you mean "${meant}"?`,
  })
})

it('lists all agents if no name is similar', () => {
  expect(refusalOf('zebra')).toMatchObject({
    code: 'AGENT_UNKNOWN',
    message: 'there is no agent "zebra"',
    hint: `known agents: ${[...drivers.keys()].join(', ')}; any other program: acp:<program> or command:<program>`,
  })
})
