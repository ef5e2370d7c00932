import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  bundledRalph,
  compileProgress,
  compileTest,
  listErrors,
  type Files,
  listWarnings,
} from '../../test/support/compile.ts'
import { Progress } from '../contract/progress.ts'
import { defaultLimits, defaultTimeouts } from '../contract/settings.ts'

const codes = (sprint: string, workflows: Files = {}) => listErrors(compileTest(sprint, workflows).diagnostics)

const learn = `
name: R
mode: ralph
goal-prompt: plan well
reflection-prompt: think twice
per-iteration-hooks: [{id: learn, prompt: "x $ITERATION", parallel: true, enabled: false}]
`

describe('a goal-driven sprint', () => {
  it('needs only a workflow and a goal', () => {
    const sprint = 'workflow: ralph\ngoal: Ship it\n'
    const progress = compileProgress(sprint)

    expect(compileTest(sprint).diagnostics).toEqual([])
    expect(progress.perIterationHooks.map(({ id, enabled, parallel }) => ({ id, enabled, parallel }))).toEqual([
      { id: 'learning', enabled: false, parallel: true },
      { id: 'documentation', enabled: false, parallel: true },
      { id: 'tests', enabled: false, parallel: true },
    ])
    expect(z.decode(Progress, z.encode(Progress, progress))).toEqual(progress)
  })

  it('compiles to the state of a sprint that has not started', () => {
    const sprint = 'workflow: w\ngoal: Ship it\nper-iteration-hooks: {learn: {enabled: true}}\n'

    expect(compileProgress(sprint, { w: learn })).toEqual({
      schemaVersion: 1,
      rev: 0,
      sprintId: '2026-03-04_big_thing',
      workflow: 'w',
      status: 'not-started',
      mode: 'ralph',
      goal: 'Ship it',
      ralph: {
        idleThreshold: 3,
        minIterations: 0,
        idleCount: 0,
        goalPrompt: 'plan well',
        reflectionPrompt: 'think twice',
      },
      limits: defaultLimits,
      timeouts: defaultTimeouts,
      perIterationHooks: [{ id: 'learn', prompt: 'x $ITERATION', parallel: true, enabled: true, onFail: 'record' }],
      dynamicSteps: [],
      live: [],
      iterations: [],
      hookTasks: [],
      ralphExit: { detectedAt: null, iteration: null, finalSummary: null },
      stats: {
        startedAt: null,
        completedAt: null,
        currentIteration: 0,
        maxIterations: 1_000_000,
        totalSteps: 0,
        completedSteps: 0,
        costUsd: 0,
        usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
        activeMs: 0,
        withoutProgress: 0,
      },
    })
  })

  it('keeps ralph options, metadata and initial steps', () => {
    const progress = compileProgress(`
workflow: ralph
goal: g
sprint-id: 2026-01-18_auth
name: auth
owner: me
created: 2026-01-18T10:30:00Z
ralph: {idle-threshold: 5, min-iterations: 4}
steps: [first, {prompt: second}, {prompt: third, id: docs}]
`)

    expect(progress).toMatchObject({
      sprintId: '2026-01-18_auth',
      name: 'auth',
      owner: 'me',
      created: '2026-01-18T10:30:00Z',
      ralph: { idleThreshold: 5, minIterations: 4 },
      stats: { totalSteps: 3 },
    })
    expect(progress.dynamicSteps.map(({ id, prompt, status }) => `${id} ${prompt} ${status}`)).toEqual([
      'step-0 first pending',
      'step-1 second pending',
      'docs third pending',
    ])
  })

  it.each([
    ['no goal', 'workflow: ralph\n', 'RALPH_MISSING_GOAL SPRINT.yaml:1:1'],
    ['an empty goal', 'workflow: ralph\ngoal:\n', 'RALPH_MISSING_GOAL SPRINT.yaml:2:6'],
    ['a blank goal', 'workflow: ralph\ngoal: "  "\n', 'RALPH_MISSING_GOAL SPRINT.yaml:2:7'],
    ['a goal that is no text', 'workflow: ralph\ngoal: [a]\n', 'RALPH_MISSING_GOAL SPRINT.yaml:2:7'],
    ['collections', 'workflow: ralph\ngoal: g\ncollections: {a: []}\n', 'NOT_SUPPORTED SPRINT.yaml:3:1'],
    ['retry', 'workflow: ralph\ngoal: g\nretry: {max-attempts: 2}\n', 'NOT_SUPPORTED SPRINT.yaml:3:1'],
    [
      'a step with a workflow',
      'workflow: ralph\ngoal: g\nsteps: [{prompt: p, workflow: x}]\n',
      'NOT_SUPPORTED SPRINT.yaml:3:21',
    ],
    [
      'a step id of ours',
      'workflow: ralph\ngoal: g\nsteps: [{prompt: p, id: step-4}]\n',
      'INVALID_ID SPRINT.yaml:3:25',
    ],
    [
      'a step id twice',
      'workflow: ralph\ngoal: g\nsteps: [{prompt: p, id: a}, {prompt: q, id: a}]\n',
      'DUPLICATE_ITEM_ID SPRINT.yaml:3:45',
    ],
    ['an empty step', 'workflow: ralph\ngoal: g\nsteps: [""]\n', 'INVALID_COLLECTION_ITEM SPRINT.yaml:3:9'],
  ])('refuses %s', (_, sprint, code) => {
    expect(codes(sprint)).toEqual([code])
  })

  it('warns of phases, which do not run (row 17)', () => {
    const { diagnostics, progress } = compileTest('workflow: w\ngoal: g\n', {
      w: `${learn}phases: [{id: a, prompt: b}]\n`,
    })
    expect(diagnostics).toContainEqual(
      expect.objectContaining({
        severity: 'warning',
        code: 'NOT_SUPPORTED',
        message: 'phases do not run in a workflow with mode: ralph',
      }),
    )
    expect(progress).toMatchObject({ mode: 'ralph', status: 'not-started' })
    expect(progress).not.toHaveProperty('phases')
  })

  it.each([
    ['classic', { protocol: 'classic' }],
    ['report', {}],
  ])('takes protocol: %s from the workflow', (protocol, fields) => {
    const { progress } = compileTest('workflow: w\ngoal: g\n', { w: `${learn}protocol: ${protocol}\n` })
    expect({ protocol: progress?.protocol }).toEqual({ protocol: undefined, ...fields })
  })

  it('recommends prompts that the workflow lacks', () => {
    const { diagnostics } = compileTest('workflow: w\ngoal: g\n', { w: 'name: R\nmode: ralph\n' })

    expect(listWarnings(diagnostics)).toEqual(['RECOMMENDED_PROMPT w.yaml:2:7'])
    expect(diagnostics[0]?.message).toBe('The workflow has no goal-prompt and no reflection-prompt')
  })
})

describe('the bundled workflow', () => {
  it('never contains the completion marker of an agent', () => {
    expect(bundledRalph).not.toContain('RALPH_COMPLETE:')
  })
})

describe('settings', () => {
  const config = {
    file: 'config.yaml',
    text: 'limits: {usd: 1, tokens: 10, iterations: 3}\nmodel: haiku\nagent: [a, b]\n',
  }

  it('come field by field from SPRINT.yaml, the workflow, the user, and the defaults', () => {
    const workflow = `${learn}limits: {usd: 2, tokens: 20}\ntimeouts: {idle: 5m}\nmodel: sonnet\nralph: {min-iterations: 2, idle-threshold: 7}\n`
    const sprint =
      'workflow: w\ngoal: g\nlimits: {usd: 3}\ntimeouts: {hook: 30s}\nagent: claude\nralph: {min-iterations: 9}\n'

    expect(compileProgress(sprint, { w: workflow }, { userConfig: config })).toMatchObject({
      limits: { ...defaultLimits, usd: 3, tokens: 20, iterations: 3 },
      timeouts: { ...defaultTimeouts, idle: 300_000, hook: 30_000 },
      model: 'sonnet',
      agent: ['claude'],
      ralph: { idleThreshold: 7, minIterations: 9 },
      stats: { maxIterations: 3 },
    })
  })

  it('of the user apply if no file overrides them; an empty file sets nothing', () => {
    const sprint = 'workflow: ralph\ngoal: g\n'

    expect(compileProgress(sprint, {}, { userConfig: config })).toMatchObject({ model: 'haiku', agent: ['a', 'b'] })
    expect(compileTest(sprint, {}, { userConfig: { file: 'config.yaml', text: '# nothing\n' } }).diagnostics).toEqual(
      [],
    )
  })

  it('of the old config move to their new fields', () => {
    const progress = compileProgress(
      'workflow: ralph\ngoal: g\nconfig: {max-iterations: 7, time-box: "4h", auto-commit: false}\n',
    )

    expect(progress).toMatchObject({ limits: { iterations: 7, duration: 14_400_000 }, checkpoint: false })
  })

  it('given both in config and in their new field are refused', () => {
    const sprint = `
workflow: ralph
goal: g
limits: {iterations: 1, duration: 1h}
checkpoint: true
config: {max-iterations: 7, time-box: 4h, auto-commit: false, max-tasks: 3}
`
    expect(codes(sprint)).toEqual([
      'INVALID_FIELD SPRINT.yaml:6:10',
      'INVALID_FIELD SPRINT.yaml:6:29',
      'INVALID_FIELD SPRINT.yaml:6:43',
      'INVALID_FIELD SPRINT.yaml:6:63',
    ])
  })

  it('are all kept', () => {
    const progress = compileProgress(`
workflow: ralph
goal: g
done-when: [{run: npm test, name: unit, timeout: 2m, each-iteration: true, protect: true}]
review: {agent: codex, model: o3}
sandbox: required
checkpoint: false
env: {pass: [NAME, PREFIX_*]}
notify: [{webhook: "https://example.org/x"}, {run: notify-send}, desktop]
worktree: {enabled: true}
`)
    expect(progress).toMatchObject({
      doneWhen: [{ run: 'npm test', name: 'unit', timeout: 120_000, eachIteration: true, protect: true }],
      review: { agent: 'codex', model: 'o3' },
      sandbox: 'required',
      checkpoint: false,
      env: { pass: ['NAME', 'PREFIX_*'] },
      notify: [{ webhook: 'https://example.org/x' }, { run: 'notify-send' }, 'desktop'],
      worktree: { enabled: true },
    })
    expect(z.decode(Progress, z.encode(Progress, progress))).toEqual(progress)
  })

  it('that the program does not support are refused where they are written', () => {
    const notHonoured = new Map([['review', 'there is no reviewer yet']])
    const { diagnostics } = compileTest('workflow: ralph\ngoal: g\nreview: {agent: codex}\n', {}, { notHonoured })

    expect(listErrors(diagnostics)).toEqual(['NOT_SUPPORTED SPRINT.yaml:3:1'])
  })
})

describe('agents and models', () => {
  const agents = new Map([
    ['claude', { models: ['opus', 'sonnet', 'haiku', 'claude-*'], slashCommands: true }],
    ['codex', { models: ['gpt-5'], slashCommands: false }],
    ['own', { slashCommands: false }],
  ])
  const judged = (lines: string) => compileTest(`workflow: ralph\ngoal: g\n${lines}`, {}, { agents }).diagnostics

  it.each(['agent: claude\nmodel: opus', 'agent: claude\nmodel: claude-opus-9', 'agent: own\nmodel: x', 'model: y'])(
    'accepts %j',
    (lines) => {
      expect(judged(lines)).toEqual([])
    },
  )

  it.each([
    ['agent: claude\nmodel: gpt-5', 'INVALID_MODEL SPRINT.yaml:4:8'],
    ['agent: clade', 'AGENT_UNKNOWN SPRINT.yaml:3:8'],
    ['agent: [claude, x]', 'AGENT_UNKNOWN SPRINT.yaml:3:17'],
    ['review: {agent: codex, model: opus}', 'INVALID_MODEL SPRINT.yaml:3:31'],
    ['review: {agent: absent}', 'AGENT_UNKNOWN SPRINT.yaml:3:17'],
    ['model: 5', 'INVALID_MODEL SPRINT.yaml:3:8'],
  ])('refuses %j', (lines, code) => {
    expect(listErrors(judged(lines))).toEqual([code])
  })

  it('suggests the closest name', () => {
    expect(judged('agent: clade')[0]?.hint).toBe('did you mean "claude"?')
    expect(judged('agent: claude\nmodel: opsu')[0]?.hint).toBe('did you mean "opus"?')
  })

  it('refuses a slash command for an agent without slash commands', () => {
    const lines = 'agent: codex\nper-iteration-hooks: [{id: a, workflow: "p:c"}]\n'

    expect(listErrors(judged(lines))).toEqual(['NOT_SUPPORTED SPRINT.yaml:4:41'])
  })
})
