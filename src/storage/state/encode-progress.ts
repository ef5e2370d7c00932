import { z } from 'zod'
import { CompiledPhase, CompiledStep, DependencyNode, type DependencyGraph } from '../../contract/phases.ts'
import { HookTask, IterationRecord, Progress, Step } from '../../contract/progress.ts'

/**
 * Encodes the progress for files. A part that has not changed since the last call is the same object as then: the cost depends
 * on the change, not on the size.
 */
export function encodeProgress(progress: Progress): Record<string, unknown> {
  const { dynamicSteps, hookTasks, iterations, phases, dependencyGraph } = progress
  const short = { ...(phases && { phases: [] }), ...(dependencyGraph && { dependencyGraph: [] }) }
  return {
    ...z.encode(Progress, { ...progress, ...short, dynamicSteps: [], hookTasks: [], iterations: [] }),
    'dynamic-steps': encodeAll(dynamicSteps, encodeWith(Step)),
    'hook-tasks': encodeAll(hookTasks, encodeWith(HookTask)),
    iterations: encodeAll(iterations, encodeWith(IterationRecord)),
    ...(phases && { phases: encodeAll(phases, encodePhase) }),
    ...(dependencyGraph && { 'dependency-graph': encodeAll(dependencyGraph, encodeGraph) }),
  }
}

/** A phase can have thousands of items, one of which changes. */
const encodePhase = ({ steps, ...phase }: CompiledPhase): object => ({
  ...z.encode(CompiledPhase, phase),
  ...(steps && { steps: encodeAll(steps, encodeWith(CompiledStep)) }),
})

const encodeGraph = ({ phaseId, nodes }: DependencyGraph): object => ({
  'phase-id': phaseId,
  nodes: encodeAll(nodes, encodeWith(DependencyNode)),
})

const encodeWith =
  <T>(schema: z.ZodType<T, object>) =>
  (item: T): object =>
    z.encode(schema, item)

/** Parts of the progress are immutable, so cache their encoding. */
const encodedParts = new WeakMap<object, object>()

function encodeAll<T extends object>(items: readonly T[], encode: (item: T) => object): object[] {
  return items.map((item) => {
    let known = encodedParts.get(item)
    if (!known) encodedParts.set(item, (known = encode(item)))
    return known
  })
}
