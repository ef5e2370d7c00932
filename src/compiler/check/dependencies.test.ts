import { describe, expect, it } from 'vitest'
import { compileProgress, compileTest, listWarnings } from '../../../test/support/compile.ts'

const eachStep = 'name: Mini\nphases:\n  - {id: work, for-each: step}\n'
const items = (list: string) => `workflow: w\ncollections: {step: [${list}]}\n`

describe('dependencies', () => {
  it('become a graph', () => {
    const progress = compileProgress(
      items('{prompt: p, id: a}, {prompt: q, depends-on: [a]}, {prompt: r, id: c, depends-on: [step-1, a, a]}'),
      {
        w: eachStep,
      },
    )

    expect(progress.dependencyGraph).toEqual([
      {
        phaseId: 'work',
        nodes: [
          { id: 'a', dependsOn: [], blockedBy: [] },
          { id: 'step-1', dependsOn: ['a'], blockedBy: ['a'] },
          { id: 'c', dependsOn: ['step-1', 'a'], blockedBy: ['step-1', 'a'] },
        ],
      },
    ])
    expect(progress.phases?.[0]?.steps?.map(({ dependsOn }) => dependsOn)).toEqual([undefined, ['a'], ['step-1', 'a']])
  })

  it('let items run in parallel if the phase or the sprint enables it', () => {
    const phase = 'name: W\nphases: [{id: work, for-each: step, parallel: true}]\n'
    const { progress, diagnostics } = compileTest(items('{prompt: p}'), { w: phase })

    expect(listWarnings(diagnostics)).toEqual(['PARALLEL_FOREACH_WARNING w.yaml:2:37'])
    expect(progress).toMatchObject({
      phases: [{ id: 'work', parallel: true }],
      parallelExecution: { enabled: true, maxConcurrency: 4, onDependencyFailure: 'skip-dependents' },
    })
    const whole = `${items('{prompt: p}')}parallel-execution: {enabled: true, max-concurrency: 2, on-dependency-failure: continue}\n`
    expect(compileProgress(whole, { w: eachStep })).toMatchObject({
      phases: [{ id: 'work', parallel: true }],
      parallelExecution: { enabled: true, maxConcurrency: 2, onDependencyFailure: 'continue' },
    })
  })

  it('in a cycle are reported with the cycle', () => {
    const { diagnostics } = compileTest(
      items(
        '{prompt: p, id: a, depends-on: [b]}, {prompt: q, id: b, depends-on: [c]}, {prompt: r, id: c, depends-on: [a]}',
      ),
      { w: eachStep },
    )

    expect(diagnostics.map(({ code, message }) => `${code} ${message}`)).toEqual([
      'DEPENDENCY_CIRCULAR Items depend on each other in a cycle: a -> b -> c -> a',
    ])
  })
})
