import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { compileProgress, compileTest, listErrors, type Files, listWarnings } from '../../test/support/compile.ts'
import { Progress } from '../contract/progress.ts'

const compilePhases = (sprint: string, workflows: Files) => compileProgress(sprint, workflows).phases ?? []
const compilePrompts = (sprint: string, workflows: Files) =>
  compilePhases(sprint, workflows).flatMap(({ prompt, steps }) =>
    steps ? steps.flatMap(({ phases }) => phases.map((phase) => phase.prompt)) : [prompt],
  )

const noItems = 'workflow: w\n'
const eachStep = 'name: Mini\nphases:\n  - {id: work, for-each: step}\n'

const fixing = (prompt: string) => `name: Fix\nphases:\n  - id: go\n    prompt: '${prompt}'\n`

const chain = (length: number): Files =>
  Object.fromEntries(
    Array.from({ length }, (_, index) => [
      `w${index}`,
      index === length - 1
        ? 'name: End\nphases: [{id: z, prompt: p}]\n'
        : `name: N\nphases: [{id: p, workflow: w${index + 1}}]\n`,
    ]),
  )

describe('a sprint with phases', () => {
  it('has a step for each item of a collection', () => {
    const sprint = `
workflow: w
sprint-id: fixed
collections:
  step:
    - prompt: build the parser
    - {prompt: write the docs, id: docs}
`
    const progress = compileProgress(sprint, { w: eachStep })

    expect(progress).toMatchObject({
      sprintId: 'fixed',
      status: 'not-started',
      mode: 'standard',
      current: { phase: 0, step: 0, subPhase: 0 },
      stats: { totalPhases: 3, totalSteps: 2, completedPhases: 0, startedAt: null },
    })
    expect(progress.phases).toEqual([
      {
        id: 'work',
        status: 'pending',
        steps: [
          {
            id: 'step-0',
            prompt: 'build the parser',
            status: 'pending',
            phases: [{ id: 'execute', prompt: 'build the parser', status: 'pending' }],
          },
          {
            id: 'docs',
            prompt: 'write the docs',
            status: 'pending',
            phases: [{ id: 'execute', prompt: 'write the docs', status: 'pending' }],
          },
        ],
      },
    ])
    expect(progress).not.toHaveProperty('dependencyGraph')
    expect(z.decode(Progress, z.encode(Progress, progress))).toEqual(progress)
  })

  it('has no current step if its first phase is a prompt', () => {
    const progress = compileProgress(noItems, { w: 'name: W\nphases: [{id: a, prompt: A}, {id: b, prompt: B}]\n' })

    expect(progress).toMatchObject({ current: { phase: 0, step: null, subPhase: null }, stats: { totalPhases: 2 } })
  })

  it('reads the old steps as the collection step, also as plain texts', () => {
    expect(compilePrompts('workflow: w\nsteps: [a, {prompt: b}]\n', { w: eachStep })).toEqual(['a', 'b'])
  })

  it('may use an empty collection', () => {
    expect(compilePhases('workflow: w\ncollections: {step: []}\n', { w: eachStep })).toEqual([
      { id: 'work', status: 'pending', steps: [] },
    ])
    expect(compileProgress('workflow: w\ncollections: {step: []}\n', { w: eachStep }).current).toEqual({
      phase: 0,
      step: null,
      subPhase: null,
    })
  })

  it('can use another collection and give its items the prompt of the phase', () => {
    const w =
      'name: W\nphases: [{id: a, for-each: bug, collection: found, prompt: "Fix {{bug.id}}: {{item.prompt}}"}]\n'

    expect(compilePrompts('workflow: w\ncollections: {found: [{prompt: x}]}\n', { w })).toEqual(['Fix bug-0: x'])
  })

  it.each(['constructor', 'toString', 'valueOf'])(
    'accepts %s as the name of a collection, an item and a phase',
    (name) => {
      const w = `name: W\nphases: [{id: ${name}, for-each: ${name}}]\n`
      const sprint = `workflow: w\ncollections: {${name}: [{prompt: a, id: ${name}}]}\n`

      expect(compilePhases(sprint, { w })).toMatchObject([{ id: name, steps: [{ id: name }] }])
    },
  )

  it('keeps retry, prompts and hooks', () => {
    const sprint = `
workflow: w
goal: context
retry: {maxAttempts: 5, backoffMs: [10], retryOn: [timeout]}
prompts: {header: "# {{sprint-id}}", result-reporting: say it}
per-iteration-hooks: [{id: lint, run: make lint}]
`
    const progress = compileProgress(sprint, { w: 'name: W\nphases: [{id: a, prompt: A}]\nretry: {max-attempts: 9}\n' })

    expect(progress).toMatchObject({
      goal: 'context',
      retry: { maxAttempts: 5, backoffMs: [10], retryOn: ['timeout'] },
      prompts: { header: '# {{sprint-id}}', resultReporting: 'say it' },
      perIterationHooks: [{ id: 'lint', run: 'make lint' }],
    })
    expect(z.decode(Progress, z.encode(Progress, progress))).toEqual(progress)
  })
})

describe('template variables', () => {
  const each = 'name: W\nphases: [{id: all, for-each: bug, workflow: fix}]\n'

  it('are replaced when the sprint is compiled', () => {
    const prompt =
      '{{item.id}}|{{bug.prompt}}|{{item.index}}|{{item.sev}}|{{phase.id}}|{{phase.index}}|{{sprint.id}}|{{ sprint.name }}'
    const sprint =
      'workflow: w\nsprint-id: S1\nname: nn\ncollections: {bug: [{prompt: p0, sev: high}, {prompt: p1, id: b9, sev: low}]}\n'

    expect(compilePrompts(sprint, { w: each, fix: fixing(prompt) })).toEqual([
      'bug-0|p0|0|high|go|0|S1|nn',
      'b9|p1|1|low|go|0|S1|nn',
    ])
  })

  it('are not expanded again inside a value', () => {
    const sprint = 'workflow: w\ncollections: {bug: [{prompt: "{{sprint.id}} $& {{item.id}}"}]}\n'

    expect(compilePrompts(sprint, { w: each, fix: fixing('<{{item.prompt}}>') })).toEqual([
      '<{{sprint.id}} $& {{item.id}}>',
    ])
  })

  it('may be fields with hyphens, lists, numbers and nested fields', () => {
    const sprint = 'workflow: w\ncollections: {bug: [{prompt: p, due-on: 3, tags: [a, b], at: {line: 7}}]}\n'
    const fix = fixing('{{item.due-on}} {{item.tags}} {{item.at.line}} {{item.at}}')

    expect(compilePrompts(sprint, { w: each, fix })).toEqual(['3 ["a","b"] 7 {"line":7}'])
  })

  it('are replaced in the prompt of a gate, but not in its script, where a shell would run them', () => {
    const fix =
      'name: F\nphases: [{id: go, prompt: p, gate: {script: "test {{item.id}}", on-fail: {prompt: "Fix {{item.id}}"}}}]\n'
    const { progress, diagnostics } = compileTest('workflow: w\ncollections: {bug: [{prompt: p}]}\n', { w: each, fix })

    expect(progress?.phases?.[0]?.steps?.[0]?.phases[0]?.gate).toMatchObject({
      script: 'test {{item.id}}',
      onFailPrompt: 'Fix bug-0',
    })
    expect(listWarnings(diagnostics)).toEqual(['UNRESOLVED_VARIABLES fix.yaml:2:51'])
  })

  it('in prompt sections are left for the run, and checked', () => {
    const sprint = 'workflow: w\ncollections: {bug: [{prompt: p}]}\nprompts: {header: "{{sprint-id}} {{sprint-idd}}"}\n'
    const { progress, diagnostics } = compileTest(sprint, { w: each, fix: fixing('x') })

    expect(progress?.prompts).toEqual({ header: '{{sprint-id}} {{sprint-idd}}' })
    expect(listWarnings(diagnostics)).toEqual(['UNRESOLVED_VARIABLES SPRINT.yaml:3:34'])
    expect(diagnostics[0]?.hint).toBe('did you mean "{{sprint-id}}"?')
  })

  describe('that are unknown', () => {
    const sprint = 'workflow: w\ncollections: {bug: [{prompt: p}, {prompt: q}]}\n'
    const files = { w: each, fix: fixing('a {{item.nope}} b {{zzz.q}} {{constructor.name}}') }

    it('are reported once, with their place; a missing property becomes empty, an unknown object stays', () => {
      const { progress, diagnostics } = compileTest(sprint, files)

      expect(progress?.phases?.[0]?.steps?.[0]?.phases[0]?.prompt).toBe('a  b {{zzz.q}} {{constructor.name}}')
      expect(listWarnings(diagnostics)).toEqual([
        'UNRESOLVED_VARIABLES fix.yaml:4:16',
        'UNRESOLVED_VARIABLES fix.yaml:4:32',
        'UNRESOLVED_VARIABLES fix.yaml:4:42',
      ])
      expect(diagnostics[1]?.message).toContain('{{zzz.q}}')
    })

    it('are errors in strict mode', () => {
      const { progress, diagnostics } = compileTest(sprint, files, { strict: true })

      expect(progress).toBeUndefined()
      expect(listErrors(diagnostics)).toHaveLength(3)
    })
  })
})

describe('model and agent', () => {
  const w = `
name: W
model: haiku
phases:
  - {id: plain, prompt: a}
  - {id: strong, prompt: b, model: opus, agent: codex}
  - {id: each, for-each: step, workflow: item}
`
  const item = 'name: I\nphases: [{id: go, prompt: c, model: opus}, {id: on, prompt: d}]\n'
  const items = 'collections: {step: [{prompt: x, model: sonnet, agent: [gemini, claude]}, {prompt: y}]}\n'
  const models = (sprint: string) =>
    compilePhases(sprint, { w, item }).flatMap(({ model, steps }) =>
      steps ? steps.map(({ phases }) => phases.map((phase) => phase.model)) : [model],
    )

  it('come from the item, the phase, the sprint, the workflow, in this order', () => {
    expect(models(`workflow: w\n${items}`)).toEqual(['haiku', 'opus', ['sonnet', 'sonnet'], ['opus', 'haiku']])
    expect(models(`workflow: w\nmodel: sonnet\n${items}`)).toEqual([
      'sonnet',
      'opus',
      ['sonnet', 'sonnet'],
      ['opus', 'sonnet'],
    ])
  })

  it('are written out for a phase if they differ from those of the sprint', () => {
    const phases = compilePhases(`workflow: w\nagent: claude\n${items}`, { w, item })

    expect(phases.map(({ agent }) => agent)).toEqual([undefined, ['codex'], undefined])
    expect(phases[2]?.steps?.map((step) => step.phases.map(({ agent }) => agent))).toEqual([
      [
        ['gemini', 'claude'],
        ['gemini', 'claude'],
      ],
      [undefined, undefined],
    ])
  })

  it('of an inserting phase are checked where they are written', () => {
    const agents = new Map([['claude', { models: ['opus'], slashCommands: true }]])
    const inserting = 'name: W\nphases: [{id: a, workflow: inner, model: gpt, agent: cloud}]\n'
    const inner = 'name: I\nphases: [{id: b, prompt: p}, {id: c, prompt: q}]\n'
    const { diagnostics } = compileTest(noItems, { w: inserting, inner }, { agents })

    expect(listErrors(diagnostics)).toEqual(['AGENT_UNKNOWN w.yaml:2:54'])
  })

  it('are checked wherever they are written', () => {
    const agents = new Map([
      ['claude', { models: ['opus', 'sonnet', 'haiku'], slashCommands: true }],
      ['codex', { models: ['gpt-5'], slashCommands: false }],
    ])
    const { diagnostics } = compileTest(`workflow: w\nagent: claude\n${items}`, { w, item }, { agents })

    expect(listErrors(diagnostics)).toEqual(['AGENT_UNKNOWN SPRINT.yaml:3:57', 'INVALID_MODEL w.yaml:6:36'])
  })
})

describe('an inserted workflow', () => {
  const top = 'name: T\nphases: [{id: in, prompt: x}, {id: mid, workflow: inner}, {id: out, prompt: y}]\n'

  it('is replaced by its phases, at any depth', () => {
    const inner = 'name: I\nphases: [{id: one, prompt: "{{phase.id}} {{phase.index}}"}, {id: deep, workflow: leaf}]\n'
    const leaf = 'name: L\nphases: [{id: z, prompt: q}]\n'
    const phases = compilePhases(noItems, { w: top, inner, leaf })

    expect(phases.map(({ id }) => id)).toEqual(['in', 'mid-one', 'mid-deep-z', 'out'])
    expect(phases[1]?.prompt).toBe('mid-one 1')
  })

  it('keeps gates, breaks, parallel and for-each', () => {
    const inner = `
name: I
phases:
  - {id: g, prompt: p, break: true, parallel: true, gate: {script: "true", on-fail: {prompt: f}}}
  - {id: each, for-each: step, wait-for-parallel: true}
`
    const [, gated, each] = compilePhases('workflow: w\ncollections: {step: [{prompt: a}]}\n', { w: top, inner })

    expect(gated).toEqual({
      id: 'mid-g',
      prompt: 'p',
      status: 'pending',
      break: true,
      parallel: true,
      gate: { script: 'true', onFailPrompt: 'f', maxRetries: 3, timeout: 60_000 },
    })
    expect(each).toMatchObject({ id: 'mid-each', waitForParallel: true, steps: [{ id: 'step-0' }] })
  })

  it('inherits from the inserting phase: the wait before it, gate and break after it, the model for all', () => {
    const w = `
name: T
phases:
  - {id: mid, workflow: inner, model: opus, wait-for-parallel: true, break: true, gate: {script: s, timeout: 5, on-fail: {prompt: f, max-retries: 7}}}
`
    const inner = 'name: I\nphases: [{id: a, prompt: a}, {id: b, prompt: b, model: haiku}]\n'

    expect(compilePhases(noItems, { w, inner })).toEqual([
      { id: 'mid-a', prompt: 'a', status: 'pending', model: 'opus', waitForParallel: true },
      {
        id: 'mid-b',
        prompt: 'b',
        status: 'pending',
        model: 'haiku',
        break: true,
        gate: { script: 's', onFailPrompt: 'f', maxRetries: 7, timeout: 5000 },
      },
    ])
  })

  it('causes a warning if it sets what only the main workflow can set', () => {
    const inner = 'name: I\nlimits: {usd: 3}\nper-iteration-hooks: []\nphases: [{id: a, prompt: a}]\n'
    const { diagnostics } = compileTest(noItems, { w: top, inner })

    expect(listWarnings(diagnostics)).toEqual(['NOT_SUPPORTED inner.yaml:2:1', 'NOT_SUPPORTED inner.yaml:3:1'])
  })
})

describe('workflows in a chain', () => {
  it('may be five deep, not six', () => {
    expect(compilePhases('workflow: w0\n', chain(5)).map(({ id }) => id)).toEqual(['p-p-p-p-z'])
    expect(listErrors(compileTest('workflow: w0\n', chain(6)).diagnostics)).toEqual(['MAX_DEPTH_EXCEEDED w4.yaml:2:28'])
  })

  it('must not form a cycle', () => {
    const files = { a: 'name: A\nphases: [{id: p, workflow: b}]\n', b: 'name: B\nphases: [{id: p, workflow: a}]\n' }
    const { diagnostics } = compileTest('workflow: a\n', files)

    expect(listErrors(diagnostics)).toEqual(['CYCLE_DETECTED b.yaml:2:28'])
    expect(diagnostics[0]?.message).toContain('a -> b -> a')
  })

  it('must not form a cycle through an item either', () => {
    const files = { w: eachStep, self: 'name: S\nphases: [{id: x, workflow: w}]\n' }
    const { diagnostics } = compileTest('workflow: w\ncollections: {step: [{prompt: a, workflow: self}]}\n', files)

    expect(listErrors(diagnostics)).toEqual(['CYCLE_DETECTED self.yaml:2:28'])
  })
})
