import { existsSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

type Files = Readonly<Record<string, string | null>>

/** A sprint of phases: SPRINT.yaml and workflows as a user would write them. */
const compileFiles = async (
  sprintYaml: string,
  workflows: Readonly<Record<string, string>>,
  ...flags: readonly string[]
) => {
  const files: Files = {
    's/SPRINT.yaml': sprintYaml,
    'wf/ralph.yaml': null,
    ...Object.fromEntries(Object.entries(workflows).map(([name, text]) => [`wf/${name}.yaml`, text])),
  }
  const sprint = await createTestSprint({ files })
  const ended = await sprint.ralph('compile', 's', '--workflows', 'wf', ...flags)
  return { sprint, ended, progress: sprint.progress, isWritten: () => existsSync(sprint.at('s/PROGRESS.yaml')) }
}

const items = (list: string, more = '') => `workflow: w\n${more}collections: {step: [${list}]}\n`
const each = 'name: Mini\nphases:\n  - {id: work, for-each: step}\n'
const phases = (list: string) => `name: W\nphases: [${list}]\n`

it('A1: compiles a for-each without an item workflow', async () => {
  const { ended, progress } = await compileFiles(
    'workflow: w\nsprint-id: fixed\ncollections:\n  step:\n    - prompt: build the parser\n    - {prompt: write the docs, id: docs}\n',
    { w: each },
  )

  expect(ended.exitCode).toBe(0)
  expect(await progress()).toMatchObject({
    'sprint-id': 'fixed',
    status: 'not-started',
    phases: [
      {
        id: 'work',
        steps: [
          { id: 'step-0', phases: [{ id: 'execute', prompt: 'build the parser' }] },
          { id: 'docs', phases: [{ id: 'execute', prompt: 'write the docs' }] },
        ],
      },
    ],
    current: { phase: 0, step: 0, 'sub-phase': 0 },
    stats: { 'total-phases': 3, 'total-steps': 2, 'started-at': null },
  })
})

it('A2: replaces template variables', async () => {
  const { progress } = await compileFiles(
    'workflow: w\nsprint-id: S1\nname: nn\ncollections: {bug: [{prompt: p0, sev: high}, {prompt: p1, id: b9, sev: low}]}\n',
    {
      w: phases('{id: all, for-each: bug, workflow: fix}'),
      fix: phases(
        '{id: go, prompt: "{{item.id}}|{{bug.prompt}}|{{item.index}}|{{item.sev}}|{{phase.id}}|{{phase.index}}|{{sprint.id}}|{{sprint.name}}"}',
      ),
    },
  )
  const { phases: [phase] = [] } = await progress()

  expect(phase?.steps?.map(({ phases: [part] }) => part?.prompt)).toEqual([
    'bug-0|p0|0|high|go|0|S1|nn',
    'b9|p1|1|low|go|0|S1|nn',
  ])
})

it('A2 also: names unknown variables, and refuses them with --strict', async () => {
  const unknown = {
    w: phases('{id: all, for-each: step, workflow: f}'),
    f: phases('{id: go, prompt: "a {{item.nope}} b {{zzz.q}}"}'),
  }
  const lenient = await compileFiles(items('{prompt: p}'), unknown)
  const strict = await compileFiles(items('{prompt: p}'), unknown, '--strict')

  expect(lenient.ended.exitCode).toBe(0)
  expect(lenient.ended.stderr).toMatch(/\{\{zzz\.q\}\}/)
  expect(lenient.ended.stderr).toMatch(/item\.nope/)
  expect(strict.ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('UNRESOLVED_VARIABLES') })
  expect(strict.isWritten()).toBe(false)
})

it('A3: resolves the model: item before phase, phase before sprint, sprint before workflow', async () => {
  const workflows = {
    w: 'name: W\nmodel: haiku\nphases:\n  - {id: plain, prompt: p}\n  - {id: big, prompt: p, model: opus}\n  - {id: all, for-each: step, workflow: f}\n',
    f: phases('{id: go, prompt: p, model: opus}'),
  }
  const models = async (more: string) => {
    const { progress } = await compileFiles(items('{prompt: p, model: sonnet}', more), workflows)
    const { phases: [plain, big, all] = [] } = await progress()
    return [plain?.model, big?.model, all?.steps?.[0]?.phases[0]?.model]
  }

  expect(await models('')).toEqual(['haiku', 'opus', 'sonnet'])
  expect(await models('model: sonnet\n')).toEqual(['sonnet', 'opus', 'sonnet'])
})

it('A4: inlines workflows without losing any field', async () => {
  const { progress } = await compileFiles(items('{prompt: p}'), {
    w: phases('{id: in, prompt: x}, {id: mid, workflow: inner}, {id: out, prompt: y}'),
    inner: phases(
      '{id: one, prompt: "{{phase.id}}"}, {id: g, prompt: p, break: true, gate: {script: "true", on-fail: {prompt: f}}}, {id: each, for-each: step}, {id: deep, workflow: leaf}',
    ),
    leaf: phases('{id: z, prompt: q}'),
  })
  const { phases: all = [] } = await progress()

  expect(all.map(({ id }) => id)).toEqual(['in', 'mid-one', 'mid-g', 'mid-each', 'mid-deep-z', 'out'])
  expect(all[1]?.prompt).toBe('mid-one')
  expect(all[2]).toMatchObject({ break: true, gate: { script: 'true', 'on-fail-prompt': 'f' } })
  expect(all[3]?.steps).toHaveLength(1)
})

it('A5: refuses cycles and chains that are too deep', async () => {
  const chain = (length: number) =>
    Object.fromEntries(
      Array.from({ length }, (_, n) => [
        n === 0 ? 'w' : `w${n}`,
        phases(n === length - 1 ? '{id: p, prompt: p}' : `{id: p, workflow: w${n + 1}}`),
      ]),
    )
  const cycle = await compileFiles(items('{prompt: p}'), {
    w: phases('{id: a, workflow: b}'),
    b: phases('{id: b, workflow: w}'),
  })

  expect(cycle.ended).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/CYCLE_DETECTED.*w.*b.*w/) })
  expect(cycle.isWritten()).toBe(false)
  expect((await compileFiles(items('{prompt: p}'), chain(5))).ended.exitCode).toBe(0)
  expect((await compileFiles(items('{prompt: p}'), chain(6))).ended).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('MAX_DEPTH_EXCEEDED'),
  })
})

describe('A6: one bad input', () => {
  it.each([
    ['no workflow', 'collections: {step: [{prompt: p}]}\n', each, 'MISSING_WORKFLOW'],
    [
      'a workflow that is not there',
      'workflow: nowhere\ncollections: {step: [{prompt: p}]}\n',
      each,
      'MAIN_WORKFLOW_NOT_FOUND',
    ],
    ['no collections', 'workflow: w\n', each, 'MISSING_COLLECTIONS'],
    ['empty collections', 'workflow: w\ncollections: {}\n', each, 'EMPTY_COLLECTIONS'],
    ['a collection that is no list', 'workflow: w\ncollections: {step: {a: 1}}\n', each, 'INVALID_COLLECTION'],
    ['an item without a prompt', items('{id: a}'), each, 'MISSING_ITEM_PROMPT'],
    ['an item with a blank prompt', items('{prompt: " "}'), each, 'EMPTY_ITEM_PROMPT'],
    ['a model that claude does not have', items('{prompt: p}', 'agent: claude\nmodel: gpt\n'), each, 'INVALID_MODEL'],
    ['an unclosed bracket', 'workflow: w\ncollections: {step: [\n', each, 'SPRINT_LOAD_ERROR'],
    ['a plain string', 'just text\n', each, 'INVALID_SPRINT'],
    ['a phase id twice', items('{prompt: p}'), phases('{id: a, prompt: p}, {id: a, prompt: q}'), 'DUPLICATE_PHASE_ID'],
    [
      'a prompt and a workflow',
      items('{prompt: p}'),
      phases('{id: a, prompt: p, workflow: x}'),
      'PROMPT_WORKFLOW_MUTUAL_EXCLUSIVE',
    ],
    ['a phase with only an id', items('{prompt: p}'), phases('{id: a}'), 'PHASE_MISSING_ACTION'],
    ['a collection that is not there', items('{prompt: p}'), phases('{id: a, for-each: bug}'), 'COLLECTION_NOT_FOUND'],
    ['a workflow without a name', items('{prompt: p}'), 'phases: [{id: a, prompt: p}]\n', 'MISSING_WORKFLOW_NAME'],
    ['a workflow without phases', items('{prompt: p}'), 'name: W\nphases: []\n', 'EMPTY_WORKFLOW'],
    [
      'a gate without a script',
      items('{prompt: p}'),
      phases('{id: a, prompt: p, gate: {on-fail: {prompt: f}}}'),
      'GATE_MISSING_SCRIPT',
    ],
    [
      'a gate with no retries',
      items('{prompt: p}'),
      phases('{id: a, prompt: p, gate: {script: x, on-fail: {prompt: f, max-retries: 0}}}'),
      'GATE_INVALID_MAX_RETRIES',
    ],
    ['a worktree without enabled', items('{prompt: p}', 'worktree: {branch: x}\n'), each, 'WORKTREE_MISSING_ENABLED'],
    ['depends-on as text', items('{prompt: p, depends-on: a}'), each, 'INVALID_DEPENDS_ON'],
    ['an unknown dependency', items('{prompt: p, depends-on: [a]}'), each, 'DEPENDENCY_NOT_FOUND'],
    ['an item that depends on itself', items('{prompt: p, id: a, depends-on: [a]}'), each, 'DEPENDENCY_SELF_REFERENCE'],
    [
      'items that depend on each other',
      items('{prompt: p, id: a, depends-on: [b]}, {prompt: p, id: b, depends-on: [a]}'),
      each,
      'DEPENDENCY_CIRCULAR',
    ],
  ])('%s is refused with its code, and nothing is written', async (_, sprintYaml, workflow, code) => {
    const { ended, isWritten } = await compileFiles(sprintYaml, { w: workflow })

    expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(code) })
    expect(ended.stderr).toMatch(/\.yaml(:\d+:\d+)? {2}error/)
    expect(isWritten()).toBe(false)
  })

  it('refuses a duplicate item id and names it', async () => {
    const { ended } = await compileFiles(items('{prompt: p, id: x}, {prompt: q, id: x}'), { w: each })

    expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(/DUPLICATE.*x/) })
  })
})

it('A7: resolves the worktree, the sprint before the workflow', async () => {
  const worktree = async (sprint: string, workflow: string) => {
    const { progress } = await compileFiles(items('{prompt: p}', `sprint-id: 2026-03-04_big_thing\n${sprint}`), {
      w: `${each}${workflow}`,
    })
    return (await progress()).worktree
  }
  const fromWorkflow = 'worktree: {enabled: true, branch-prefix: "wip/", path-prefix: "../wts/", cleanup: never}\n'

  expect(await worktree('worktree: {enabled: true}\n', '')).toEqual({
    enabled: true,
    branch: 'sprint/2026-03-04_big_thing',
    path: '../2026-03-04_big_thing-worktree',
    cleanup: 'on-complete',
  })
  expect(await worktree('', fromWorkflow)).toMatchObject({
    branch: 'wip/2026-03-04_big_thing',
    path: '../wts/2026-03-04_big_thing',
    cleanup: 'never',
  })
  const own =
    'worktree: {enabled: true, branch: "f/{sprint-name}-{date}", path: "../x/{sprint-id}", cleanup: on-merge}\n'
  expect(await worktree(own, fromWorkflow)).toMatchObject({
    branch: 'f/big_thing-2026-03-04',
    path: '../x/2026-03-04_big_thing',
    cleanup: 'on-merge',
  })
  expect(await worktree('worktree: {enabled: false}\n', fromWorkflow)).toBeUndefined()
})

it('A7 also: a branch name with shell characters is refused, and no command is executed', async () => {
  const { sprint, ended } = await compileFiles(
    items('{prompt: p}', 'worktree: {enabled: true, branch: "x;touch${IFS}PWNED;"}\n'),
    { w: each },
  )

  expect(ended).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('WORKTREE_INVALID_BRANCH_NAME') })
  expect(existsSync(sprint.at('PWNED'))).toBe(false)
})

it('A8: writes the dependency graph, and none where nothing depends', async () => {
  const { progress } = await compileFiles(items('{prompt: p, id: a}, {prompt: q, id: b, depends-on: [a]}'), { w: each })
  const without = await compileFiles(items('{prompt: p}'), { w: each })

  expect((await progress())['dependency-graph']).toEqual([
    {
      'phase-id': 'work',
      nodes: [
        { id: 'a', 'depends-on': [], 'blocked-by': [] },
        { id: 'b', 'depends-on': ['a'], 'blocked-by': ['a'] },
      ],
    },
  ])
  expect(await without.progress()).not.toHaveProperty('dependency-graph')
})
