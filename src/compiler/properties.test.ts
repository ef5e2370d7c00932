import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bundledRalph, compileTest } from '../../test/support/compile.ts'
import { formatDiagnostic, isErrorDiagnostic } from './parse/diagnostics.ts'
import { validateWorkflow } from './validate.ts'

/** A failure prints its seed: reproduce it with RALPH_SEED=…, search longer with RALPH_RUNS=…. */
const seed = Number(process.env['RALPH_SEED'] ?? 42)
const runs = { seed, numRuns: Number(process.env['RALPH_RUNS'] ?? 350) }
const patience = 120_000

const ralph = `workflow: ralph
goal: |
  Build it
ralph: {idle-threshold: 3, min-iterations: 15}
done-when: [{run: npm test, timeout: 2m}]
limits: {usd: 3, duration: 2h, no-progress: off}
steps: [a, {prompt: b, id: c}]
per-iteration-hooks:
  - id: learning
    prompt: "/x $ITERATION_TRANSCRIPT"
    enabled: true
sprint-id: 2026-01-18_auth
created: 2026-01-18T10:30:00Z
`
const standard = `workflow: w
model: opus
collections:
  step:
    - {prompt: a, id: x, sev: high}
    - {prompt: b, depends-on: [x], workflow: inner}
worktree: {enabled: true, branch: "f/{sprint-name}"}
retry: {maxAttempts: 2, backoffMs: [10], retryOn: [timeout]}
`
const workflow = `name: W
phases:
  - {id: one, prompt: "{{sprint.id}} {{phase.id}}", gate: {script: s, on-fail: {prompt: f}}}
  - {id: two, for-each: step, workflow: inner, parallel: true}
  - {id: three, workflow: inner, break: true}
`
const inner = 'name: I\nphases: [{id: a, prompt: "{{item.prompt}}"}, {id: b, prompt: q, parallel: true}]\n'

/** Compiles, or reports at least one error, each with a place that exists in its file; never throws. */
function isJudged(sprint: string, files: Readonly<Record<string, string>> = {}): void {
  const all = { w: workflow, inner, ...files }
  const { progress, diagnostics } = compileTest(sprint, all)
  const texts = new Map([
    ['SPRINT.yaml', sprint],
    ['ralph.yaml', bundledRalph],
    ...Object.entries(all).map(([name, text]) => [`${name}.yaml`, text] as const),
  ])
  expect(progress === undefined).toBe(diagnostics.some(isErrorDiagnostic))
  for (const diagnostic of diagnostics) {
    if (diagnostic.code === 'TOO_MANY_PROBLEMS') continue
    const { file, line = 0, column = 0 } = diagnostic.place ?? { file: 'none' }
    const lines = texts.get(file)?.split('\n') ?? []
    expect(line).toBeGreaterThan(0)
    expect(line).toBeLessThanOrEqual(lines.length)
    expect(column).toBeGreaterThan(0)
    expect(column).toBeLessThanOrEqual((lines[line - 1]?.length ?? 0) + 1)
    expect(formatDiagnostic(diagnostic, { color: false })).not.toMatch(/undefined|\[object/)
  }
}

/** A file with some characters changed, removed, doubled or moved. */
const mutated = (text: string) =>
  fc
    .array(
      fc.record({
        at: fc.nat(text.length - 1),
        length: fc.nat(12),
        put: fc.oneof(
          fc.string({ maxLength: 4 }),
          fc.constantFrom(
            '\n',
            '\t',
            ': ',
            '- ',
            '[',
            '{',
            '}',
            '&a ',
            '*a',
            '"',
            "'",
            '|',
            '#',
            '\u0000',
            '...\n',
            'null',
            '{{',
            '$',
          ),
        ),
      }),
      { minLength: 1, maxLength: 4 },
    )
    .map((changes) =>
      changes.reduce((current, { at, length, put }) => current.slice(0, at) + put + current.slice(at + length), text),
    )

const fieldNames = fc.constantFrom(
  'workflow',
  'goal',
  'steps',
  'collections',
  'step',
  'ralph',
  'limits',
  'model',
  'agent',
  'worktree',
  'enabled',
  'id',
  'per-iteration-hooks',
  'prompt',
  'depends-on',
  'done-when',
  'run',
  'retry',
  'config',
  'notify',
  'constructor',
  '__proto__',
)

const anyData = fc.letrec((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.constantFrom(null, true, 5, -1, 0.5, '', 'x', 'ralph', 'w', 'step', '{{item.x}}', '../x', '2h'),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(fieldNames, tie('value'), { maxKeys: 6, noNullPrototype: true }),
  ),
})).value

function isJudgedAlone(text: string): void {
  const { valid, diagnostics } = validateWorkflow({ file: 'w.yaml', text })
  expect(valid).toBe(!diagnostics.some(isErrorDiagnostic))
}

const anySprint = fc
  .tuple(fc.dictionary(fieldNames, anyData, { noNullPrototype: true }), fc.constantFrom('ralph', 'w', undefined))
  .map(([data, name]) => JSON.stringify(name === undefined ? data : { goal: 'g', ...data, workflow: name }))

const workflowFields = fc.constantFrom('name', 'mode', 'phases', 'per-iteration-hooks', 'worktree', 'model')
const anyWorkflow = fc.dictionary(workflowFields, anyData).map((data) => JSON.stringify({ name: 'W', ...data }))

describe('files with any content compile or are refused with a place:', () => {
  it.each([
    ['any data as SPRINT.yaml', anySprint, (text: string) => isJudged(text)],
    ['any data as a workflow', anyWorkflow, (text: string) => isJudged(standard, { w: text })],
    ['any text', fc.string({ unit: 'binary', maxLength: 200 }), (text: string) => isJudged(text)],
    ['a damaged goal-driven SPRINT.yaml', mutated(ralph), (text: string) => isJudged(text)],
    ['a damaged SPRINT.yaml with phases', mutated(standard), (text: string) => isJudged(text)],
    ['a damaged workflow', mutated(workflow), (text: string) => isJudged(standard, { w: text })],
    ['a damaged inserted workflow', mutated(inner), (text: string) => isJudged(standard, { inner: text })],
  ])(
    '%s',
    (_, texts, judge) => {
      expect(fc.check(fc.property(texts, judge), runs)).toMatchObject({ failed: false })
    },
    patience,
  )

  it('a workflow by itself', () => {
    expect(fc.check(fc.property(fc.oneof(anyWorkflow, mutated(workflow)), isJudgedAlone), runs)).toMatchObject({
      failed: false,
    })
  })
})
