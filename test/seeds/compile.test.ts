import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { bundledRalph, compileProgress, compileTest, listErrors, listWarnings } from '../support/compile.ts'
import { root } from '../support/paths.ts'
import { createTestSprint } from '../support/sprint.ts'
import { runYq, yqStandIn } from '../support/yq.ts'

const read = (name: string): string => readFileSync(join(root, 'test/fixtures/seeds', name), 'utf8')
const listCodes = (sprint: string, workflow: string) => listErrors(compileTest(sprint, { w: workflow }).diagnostics)
const codeOnly = (found: readonly string[]) => found.map((line) => line.split(' ')[0])

const ralph = 'name: R\nmode: ralph\ngoal-prompt: p\nreflection-prompt: r\n'
const goal = 'workflow: w\ngoal: g\n'

describe('the files of 000, word for word', () => {
  it('000:49-87 compiles to a PROGRESS.yaml as in 000:119-173 (rows 4, 6, 13, 14, 16, 18-21, 27, 42, 73, 74, 139, 140, 143, 144, 234, 235)', async () => {
    const sprint = await createTestSprint({
      files: {
        's/SPRINT.yaml': read('000-sprint-concept.yaml'),
        'wf/ralph.yaml': read('000-workflow-concept.yaml'),
        'wf/doc-update.yaml': 'name: D\nphases: [{id: a, prompt: Update the docs.}]\n',
      },
    })
    expect(await sprint.compile()).toMatchObject({ exitCode: 0 })

    const progress = await sprint.progress()
    expect(progress).toMatchObject({
      'sprint-id': expect.stringMatching(/_s$/),
      status: 'not-started',
      mode: 'ralph',
      goal: 'Build authentication system with JWT tokens\n',
      ralph: {
        'idle-threshold': 3,
        'goal-prompt': 'Analyze the goal and create initial steps...\n',
        'reflection-prompt': 'No pending steps. Reflect and either RALPH_COMPLETE or add steps...\n',
      },
      'dynamic-steps': [],
      'hook-tasks': [],
      'ralph-exit': { 'detected-at': null, iteration: null, 'final-summary': null },
      stats: { 'started-at': null, 'current-iteration': 0, 'max-iterations': 1_000_000 },
    })
    expect(
      progress['per-iteration-hooks'].map(({ id, workflow, prompt, parallel, enabled }) => ({
        id,
        action: workflow ?? prompt,
        parallel,
        enabled,
      })),
    ).toEqual([
      { id: 'learning', action: 'm42-signs:learning-extraction', parallel: true, enabled: true },
      { id: 'documentation', action: 'doc-update', parallel: true, enabled: true },
      { id: 'custom', action: 'Custom per-iteration task...', parallel: true, enabled: false },
    ])
    const yq = (expression: string) => runYq(yqStandIn, ['-r', expression], sprint.at('s/PROGRESS.yaml')).trim()
    expect(yq('.mode // "standard"')).toBe('ralph')
    expect(yq('.ralph."idle-threshold" // 3')).toBe('3')
    expect(yq('[.dynamic-steps[] | select(.status == "pending")] | length')).toBe('0')
  })

  it('000:371-426 compiles, with hooks that are off until SPRINT.yaml enables them (rows 71, 72, 213)', () => {
    const { progress, diagnostics } = compileTest(read('000-sprint.yaml'), { ralph: read('workflows/ralph.yaml') })
    expect(listErrors(diagnostics)).toEqual([])
    expect(progress?.perIterationHooks.map(({ id, enabled, parallel }) => ({ id, enabled, parallel }))).toEqual([
      { id: 'learning', enabled: true, parallel: true },
      { id: 'documentation', enabled: true, parallel: true },
      { id: 'tests', enabled: false, parallel: true },
    ])
    expect(compileProgress(goal.replace('w\n', 'ralph\n')).perIterationHooks.filter(({ enabled }) => enabled)).toEqual(
      [],
    )
  })

  it('000:441-453: the sprint of the verification, compiled by "ralph compile" instead of a path into a plugin (row 78)', async () => {
    const folder = '.claude/sprints/test-ralph'
    const sprint = await createTestSprint({ files: { [`${folder}/SPRINT.yaml`]: read('000-sprint-check.yaml') } })
    expect(await sprint.ralph('compile', folder)).toMatchObject({ exitCode: 0 })
    expect(parse(await sprint.read(`${folder}/PROGRESS.yaml`))).toMatchObject({
      'sprint-id': expect.stringMatching(/_test-ralph$/),
      mode: 'ralph',
      goal: 'Create a hello world TypeScript function with tests\n',
    })
  })

  it('has the name, mode, prompts and hooks of 000:371-408 in the bundled workflow (rows 65-70, 212)', () => {
    const workflow: unknown = parse(bundledRalph)
    expect(workflow).toMatchObject({
      name: 'Ralph Mode Workflow',
      description: expect.any(String),
      mode: 'ralph',
      'goal-prompt': expect.stringContaining('Plan steps'),
      'reflection-prompt': expect.stringContaining('nothing left to do'),
      'per-iteration-hooks': [
        { id: 'learning', workflow: 'm42-signs:learning-extraction', parallel: true, enabled: false },
        { id: 'documentation', prompt: expect.any(String), parallel: true, enabled: false },
        { id: 'tests', prompt: expect.any(String), parallel: true, enabled: false },
      ],
    })
  })
})

describe('the files of 001, word for word', () => {
  it('001:111-113, with the defaults of 001:150-153 (rows 99, 105, 106)', () => {
    const { progress, diagnostics } = compileTest(read('001-sprint-minimal.yaml'))
    expect(diagnostics).toEqual([])
    expect(progress?.ralph).toMatchObject({ idleThreshold: 3, minIterations: 0 })
  })

  it('001:119-145, with every field (rows 100-104)', () => {
    const { progress, diagnostics } = compileTest(read('001-sprint-full.yaml'))
    expect(listErrors(diagnostics)).toEqual([])
    expect(progress).toMatchObject({
      sprintId: '2026-01-18_auth-feature',
      name: 'auth-feature',
      created: '2026-01-18T10:30:00Z',
      goal: expect.stringContaining('All tests passing'),
      ralph: { idleThreshold: 3, minIterations: 15 },
    })
    expect(progress?.perIterationHooks.find(({ id }) => id === 'learning')).toMatchObject({
      prompt: '/m42-signs:extract $ITERATION_TRANSCRIPT\n',
      parallel: true,
      enabled: true,
    })
  })

  it('001:163-200, hooks of a workflow and the map that enables them (rows 108, 112)', () => {
    const workflow = `${ralph}${read('001-hooks.yaml')}`
    const progress = compileProgress(`${goal}${read('001-overrides.yaml')}`, { w: workflow })
    expect(progress.perIterationHooks.map(({ id, enabled }) => `${id} ${enabled}`)).toEqual([
      'learning true',
      'documentation true',
      'tests false',
    ])
  })
})

describe('the rules of 004', () => {
  it('every error has its line and column, which js-yaml would not give (row 246)', () => {
    expect(listCodes('workflow: w\ngoal: g\nralph:\n  idle-threshold: soon\n', ralph)).toEqual([
      'INVALID_FIELD SPRINT.yaml:4:19',
    ])
  })

  it('phases are required in standard mode only (rows 205, 238, 257)', () => {
    expect(codeOnly(listCodes('workflow: w\n', 'name: W\n'))).toEqual(['MISSING_PHASES'])
    expect(listCodes(goal, ralph)).toEqual([])
    const standard =
      'name: Standard Sprint\ndescription: d\nphases:\n  - id: prepare\n    prompt: |\n      Multi-line\n'
    expect(compileProgress('workflow: w\n', { w: standard })).toMatchObject({ mode: 'standard' })
    const eachStep = 'name: W\nphases: [{id: work, for-each: step}]\n'
    expect(compileProgress('workflow: w\nsteps: [one, two]\n', { w: eachStep }).phases).toMatchObject([
      { id: 'work', steps: [{ prompt: 'one' }, { prompt: 'two' }] },
    ])
  })

  it('a goal is required in ralph mode, steps are not (rows 239, 250, 259, 268)', () => {
    expect(compileTest('workflow: w\n', { w: ralph }).diagnostics).toMatchObject([
      { code: 'RALPH_MISSING_GOAL', message: 'Ralph mode requires goal field in SPRINT.yaml' },
    ])
    expect(codeOnly(listCodes('workflow: w\ngoal: "  "\n', ralph))).toEqual(['RALPH_MISSING_GOAL'])
    expect(compileProgress(goal, { w: ralph }).dynamicSteps).toEqual([])
    expect(compileProgress(`${goal}steps: [one]\n`, { w: ralph }).dynamicSteps).toMatchObject([{ prompt: 'one' }])
  })

  it('prompts are optional but recommended, and names are in kebab-case (rows 248, 258)', () => {
    const bare = compileTest(goal, { w: 'name: R\nmode: ralph\n' })
    expect(listErrors(bare.diagnostics)).toEqual([])
    expect(codeOnly(listWarnings(bare.diagnostics))).toEqual(['RECOMMENDED_PROMPT'])
    const camel = compileTest(goal, { w: `${ralph}perIterationHooks: []\n` })
    expect(camel.diagnostics).toMatchObject([
      { severity: 'warning', hint: expect.stringContaining('per-iteration-hooks') },
    ])
  })

  it.each([
    ['no action', '{id: a}', 'RALPH_INVALID_HOOK', /^Per-iteration hook must have workflow or prompt/],
    ['two actions', '{id: a, workflow: "x:y", prompt: p}', 'HOOK_AMBIGUOUS_ACTION', /./],
    ['no id', '{prompt: p}', 'MISSING_HOOK_ID', /./],
    ['parallel that is no boolean', '{id: a, prompt: p, parallel: maybe}', 'INVALID_HOOK_PARALLEL', /parallel/],
    ['enabled that is no boolean', '{id: a, prompt: p, enabled: 1}', 'INVALID_HOOK_ENABLED', /enabled/],
  ])('refuses a hook with %s (rows 207, 240, 249, 252-255, 260)', (_, hook, code, message) => {
    const { diagnostics } = compileTest(goal, { w: `${ralph}per-iteration-hooks: [${hook}]\n` })
    expect(codeOnly(listErrors(diagnostics))).toEqual([code])
    expect(diagnostics[0]?.message).toMatch(message)
  })

  it('refuses an override of an unknown hook and merges known ones (rows 236, 251, 269)', () => {
    const workflow = `${ralph}per-iteration-hooks: [{id: learning, prompt: p, parallel: true, enabled: false}]\n`
    const overrides = (id: string) => `${goal}per-iteration-hooks: {${id}: {enabled: true}}\n`
    expect(codeOnly(listCodes(overrides('nothing'), workflow))).toEqual(['RALPH_INVALID_HOOK_OVERRIDE'])
    expect(compileProgress(overrides('learning'), { w: workflow }).perIterationHooks).toMatchObject([
      { id: 'learning', prompt: 'p', parallel: true, enabled: true },
    ])
  })
})
