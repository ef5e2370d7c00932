import { describe, expect, it } from 'vitest'
import { importPlan } from './import-plan.ts'

describe('a prd.json', () => {
  it('becomes a goal with all stories, and a step for each story that does not pass yet, by priority', () => {
    const prd = {
      project: 'Shop',
      description: 'A small shop',
      userStories: [
        { id: 'US-1', title: 'Search', passes: true },
        { id: 'US-2', title: 'Pay', priority: 2, acceptanceCriteria: ['card works'] },
        { id: 'US-3', title: 'Cart', priority: 1, description: 'Things can be put in' },
      ],
    }

    expect(importPlan('prd.json', JSON.stringify(prd))).toEqual({
      goal: 'Shop\n\nA small shop\n\nStories:\n- Search\n- Pay\n- Cart',
      steps: ['Cart\nThings can be put in', 'Pay\n- card works'],
    })
  })

  it.each([
    ['no JSON', '{'],
    ['no stories', '{"stories": []}'],
    ['nothing', ' '],
  ])('that is %s is refused with its name', (_, text) => {
    expect(() => importPlan('prd.json', text)).toThrow(
      expect.objectContaining({ code: 'FILE_UNREADABLE', place: { file: 'prd.json' } }),
    )
  })
})

describe('a plan with checkboxes', () => {
  it('becomes a goal, and a step for each open box with the lines indented below it', () => {
    const plan =
      '# Plan\n\nBuild a parser.\n\n- [x] Lexer\n- [ ] Parser\n  - [ ] expressions\n  with errors\n* [ ] Docs\n\nThat is all.\n'

    expect(importPlan('plan.md', plan)).toEqual({
      goal: '# Plan\n\nBuild a parser.\n\nThat is all.',
      steps: ['Parser\n- [ ] expressions\nwith errors', 'Docs'],
    })
  })
})

describe('a prompt', () => {
  it('is the goal, word for word', () => {
    expect(importPlan('PROMPT.md', 'Fix everything.\n\nAlways run the tests.\n')).toEqual({
      goal: 'Fix everything.\n\nAlways run the tests.',
      steps: [],
    })
  })
})

describe('a YAML file', () => {
  const seed = 'mode: ralph\ngoal: Build it\ndynamic-steps:\n  - { id: step-0, prompt: a, status: completed }\n'

  it('that is the PROGRESS.yaml of another program keeps its history', () => {
    expect(importPlan('old/PROGRESS.yaml', seed)).toEqual({ goal: 'Build it', steps: [], progressYaml: seed })
  })

  it("that is Ralph's own PROGRESS.yaml gives its goal and its open steps", () => {
    const own = `schema-version: 1\nrev: 4\n${seed}  - { id: step-1, prompt: b, status: pending }\n`
    expect(importPlan('PROGRESS.yaml', own)).toEqual({ goal: 'Build it', steps: ['b'] })
  })

  it('that is a SPRINT.yaml gives its goal and its steps', () => {
    expect(importPlan('SPRINT.yaml', 'workflow: ralph\ngoal: g\nsteps: [a, { prompt: b }]\n')).toEqual({
      goal: 'g',
      steps: ['a', 'b'],
    })
  })

  it('keeps the thresholds and hooks of the file', () => {
    const hooks = 'per-iteration-hooks:\n  - { id: learning, prompt: Learn, parallel: true, enabled: true }\n'
    const { settings } = importPlan('PROGRESS.yaml', `${seed}ralph: { min-iterations: 10, idle-count: 2 }\n${hooks}`)
    expect(settings).toEqual({
      ralph: { 'min-iterations': 10 },
      'per-iteration-hooks': [{ id: 'learning', prompt: 'Learn', parallel: true, enabled: true }],
    })
  })

  it.each([
    ['without a goal', 'phases: []\n', /it has no goal/],
    ['that cannot be parsed', 'a: [\n', /cannot be imported/],
    ['of another kind', '- 1\n', /it has no goal/],
    ['with an empty goal', 'goal: " "\n', /goal: /],
    ['with a step that is no prompt', 'goal: g\nsteps: [7]\n', /steps\.0: /],
  ])('%s is refused, not taken as the goal', (_, text, message) => {
    expect(() => importPlan('PROGRESS.yaml', text)).toThrow(
      expect.objectContaining({ code: 'FILE_UNREADABLE', message: expect.stringMatching(message) }),
    )
  })
})
