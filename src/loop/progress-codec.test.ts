import { expect, it } from 'vitest'
import { z } from 'zod'
import { buildProgress, buildSteps, frozen } from '../../test/support/builders.ts'
import { buildPhase, buildStandard } from '../../test/support/phases.ts'
import { Progress } from '../contract/progress.ts'
import { fromProgress, toProgress } from './progress-codec.ts'
import { classicWay } from './ways/classic/classic-way.ts'
import { goalWay } from './ways/goal/goal-way.ts'
import { notesWay } from './ways/notes/notes-way.ts'
import { phasesWay } from './ways/phases/phases-way.ts'
import { getWay } from './ways/registry.ts'

const fields = Object.keys(z.toJSONSchema(Progress, { io: 'input', unrepresentable: 'any' }).properties ?? {}).map(
  (name) => name.replaceAll(/-([a-z])/g, (_, letter: string) => letter.toUpperCase()),
)

it.each([
  ['goal', goalWay, buildProgress({ dynamicSteps: buildSteps('alpha'), protocol: 'report' })],
  ['classic', classicWay, buildProgress({ protocol: 'classic' })],
  ['notes', notesWay, buildProgress({ protocol: 'notes' })],
  ['phases', phasesWay, buildStandard([buildPhase('a')])],
])('converts a sprint with the way %s to its flat form and back without a difference', (_name, way, progress) => {
  const sprint = fromProgress(frozen(progress))

  expect(getWay(sprint)).toBe(way)
  expect(toProgress(sprint)).toStrictEqual(progress)
})

it('keeps every field of the schema', () => {
  expect(fields.length).toBeGreaterThan(50)
  // `current` and `parallelTasks` are derived whenever the file is written.
  const derived = ['schemaVersion', 'mode', 'protocol', 'current', 'parallelTasks']
  const kept = fields.filter((field) => !derived.includes(field))
  for (const field of kept) {
    const value = { sentinel: field }
    expect(toProgress(fromProgress({ ...buildProgress(), [field]: value }))).toHaveProperty(field, value)
  }
})

it('copies references, not lists', () => {
  const progress = buildProgress({ dynamicSteps: buildSteps('alpha', 'beta') })
  const again = toProgress(fromProgress(progress))

  expect(again.dynamicSteps).toBe(progress.dynamicSteps)
  expect(again.iterations).toBe(progress.iterations)
})

it('has no run before the first one', () => {
  expect(fromProgress(buildProgress()).run).toBeUndefined()
  expect(fromProgress(buildProgress({ runLimits: { usd: 1 } })).run).toMatchObject({ limits: { usd: 1 } })
})
