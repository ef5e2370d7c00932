import { describe, expect, it } from 'vitest'
import { compileTest, listErrors, type Files, listWarnings } from '../../test/support/compile.ts'

const eachStep = 'name: W\nphases: [{id: work, for-each: step}]\n'
const items = (list: string) => `workflow: w\ncollections: {step: [${list}]}\n`
const errors = (sprint: string, workflows: Files = { w: eachStep }) =>
  listErrors(compileTest(sprint, workflows).diagnostics)

const judged = (workflow: string, more: Files = {}) => errors(items('{prompt: a}'), { w: workflow, ...more })
const phases = (list: string) => `name: W\nphases: [{id: work, for-each: step}, ${list}]\n`

describe('SPRINT.yaml', () => {
  it.each([
    ['no workflow', 'collections: {step: []}\n', 'MISSING_WORKFLOW SPRINT.yaml:1:1'],
    ['a workflow that is no text', 'workflow: [w]\n', 'MISSING_WORKFLOW SPRINT.yaml:1:11'],
    ['an empty workflow', 'workflow:\n', 'MISSING_WORKFLOW SPRINT.yaml:1:10'],
    ['a workflow that is not there', 'workflow: x\n', 'MAIN_WORKFLOW_NOT_FOUND SPRINT.yaml:1:11'],
    ['a workflow outside of its folder', 'workflow: ../../x\n', 'INVALID_WORKFLOW_NAME SPRINT.yaml:1:11'],
    ['an absolute workflow', 'workflow: /etc/passwd\n', 'INVALID_WORKFLOW_NAME SPRINT.yaml:1:11'],
    ['the fences of Markdown', '```yaml\nworkflow: w\n```\n', 'SPRINT_LOAD_ERROR SPRINT.yaml:1:1'],
    ['no collections', 'workflow: w\n', 'MISSING_COLLECTIONS SPRINT.yaml:1:1'],
    ['empty collections', 'workflow: w\ncollections: {}\n', 'EMPTY_COLLECTIONS SPRINT.yaml:2:14'],
    ['collections that are no map', 'workflow: w\ncollections: 5\n', 'INVALID_COLLECTIONS SPRINT.yaml:2:14'],
    [
      'a collection that is no list',
      'workflow: w\ncollections: {step: {a: 1}}\n',
      'INVALID_COLLECTION SPRINT.yaml:2:21',
    ],
    ['a collection without anything', 'workflow: w\ncollections: {step: }\n', 'INVALID_COLLECTION SPRINT.yaml:2:21'],
    ['steps that are no list', 'workflow: w\nsteps: x\n', 'INVALID_COLLECTION SPRINT.yaml:2:8'],
    ['steps and collections.step', `${items('{prompt: a}')}steps: [b]\n`, 'INVALID_COLLECTIONS SPRINT.yaml:3:1'],
    ['an item that is no map', items('x'), 'INVALID_COLLECTION_ITEM SPRINT.yaml:2:22'],
    ['an item without a prompt', items('{id: a}'), 'MISSING_ITEM_PROMPT SPRINT.yaml:2:22'],
    ['an item with a blank prompt', items('{prompt: " "}'), 'EMPTY_ITEM_PROMPT SPRINT.yaml:2:31'],
    ['an item with a prompt that is no text', items('{prompt: 5}'), 'MISSING_ITEM_PROMPT SPRINT.yaml:2:31'],
    ['an item workflow that is no text', items('{prompt: a, workflow: 5}'), 'INVALID_ITEM_WORKFLOW SPRINT.yaml:2:44'],
    [
      'an item workflow that is not there',
      items('{prompt: a, workflow: x}'),
      'ITEM_WORKFLOW_NOT_FOUND SPRINT.yaml:2:44',
    ],
    ['an item workflow elsewhere', items('{prompt: a, workflow: ../x}'), 'INVALID_WORKFLOW_NAME SPRINT.yaml:2:44'],
    ['an item model that is no text', items('{prompt: a, model: [x]}'), 'INVALID_MODEL SPRINT.yaml:2:41'],
    ['an item id twice', items('{prompt: a, id: x}, {prompt: b, id: x}'), 'DUPLICATE_ITEM_ID SPRINT.yaml:2:58'],
    [
      'an item id that another one gets',
      items('{prompt: a, id: step-1}, {prompt: b}'),
      'DUPLICATE_ITEM_ID SPRINT.yaml:2:47',
    ],
    ['an item id with a slash', items('{prompt: a, id: a/b}'), 'INVALID_ID SPRINT.yaml:2:38'],
    ['__proto__ as an item id', items('{prompt: a, id: __proto__}'), 'INVALID_ID SPRINT.yaml:2:38'],
    ['__proto__ as a key of an item', items('{prompt: a, __proto__: b}'), 'SPRINT_LOAD_ERROR SPRINT.yaml:2:34'],
    ['depends-on as text', items('{prompt: a, depends-on: b}'), 'INVALID_DEPENDS_ON SPRINT.yaml:2:46'],
    ['depends-on with a number', items('{prompt: a, depends-on: [5]}'), 'INVALID_DEPENDS_ON_ELEMENT SPRINT.yaml:2:47'],
    [
      'depends-on with an empty id',
      items('{prompt: a, depends-on: [""]}'),
      'EMPTY_DEPENDS_ON_ELEMENT SPRINT.yaml:2:47',
    ],
    ['depends-on with an unknown id', items('{prompt: a, depends-on: [b]}'), 'DEPENDENCY_NOT_FOUND SPRINT.yaml:2:47'],
    [
      'depends-on with its own id',
      items('{prompt: a, id: x, depends-on: [x]}'),
      'DEPENDENCY_SELF_REFERENCE SPRINT.yaml:2:54',
    ],
    ['an unclosed bracket', 'workflow: [w\n', 'SPRINT_LOAD_ERROR SPRINT.yaml:2:1'],
    ['a plain text', 'hello\n', 'INVALID_SPRINT SPRINT.yaml:1:1'],
    ['nothing', '', 'INVALID_SPRINT SPRINT.yaml:1:1'],
    ['a list', '- a\n', 'INVALID_SPRINT SPRINT.yaml:1:1'],
    ['two documents', 'workflow: w\n---\nworkflow: w\n', 'SPRINT_LOAD_ERROR SPRINT.yaml:2:1'],
    ['a key twice', 'workflow: w\nworkflow: w\n', 'SPRINT_LOAD_ERROR SPRINT.yaml:2:1'],
    ['a tag', 'workflow: !evil w\n', 'SPRINT_LOAD_ERROR SPRINT.yaml:1:11'],
    ['__proto__ as a key', '__proto__: {a: 1}\nworkflow: w\n', 'SPRINT_LOAD_ERROR SPRINT.yaml:1:1'],
    ['an empty sprint id', `${items('{prompt: a}')}sprint-id: ""\n`, 'MISSING_SPRINT_ID SPRINT.yaml:3:12'],
    [
      'a sprint id outside of its folder',
      `${items('{prompt: a}')}sprint-id: ../x\n`,
      'INVALID_SPRINT_ID SPRINT.yaml:3:12',
    ],
    ['ralph settings', `${items('{prompt: a}')}ralph: {idle-threshold: 2}\n`, 'NOT_SUPPORTED SPRINT.yaml:3:1'],
    [
      'more items than max-tasks',
      `${items('{prompt: a}, {prompt: b}')}config: {max-tasks: 1}\n`,
      'INVALID_FIELD SPRINT.yaml:3:10',
    ],
    ['a duration without a unit', `${items('{prompt: a}')}timeouts: {idle: 30}\n`, 'INVALID_FIELD SPRINT.yaml:3:18'],
    [
      'a URL instead of a host',
      `${items('{prompt: a}')}network: {allow: [a.example, "https://b.example"]}\n`,
      'INVALID_FIELD SPRINT.yaml:3:30',
    ],
    [
      'an unknown retry category',
      `${items('{prompt: a}')}retry: {retryOn: [luck]}\n`,
      'INVALID_FIELD SPRINT.yaml:3:19',
    ],
  ])('is refused with %s', (_, sprint, code) => {
    expect(errors(sprint)).toEqual([code])
  })

  it.each([
    ['x', 'INVALID_WORKTREE_CONFIG SPRINT.yaml:3:11'],
    ['{branch: x}', 'WORKTREE_MISSING_ENABLED SPRINT.yaml:3:11'],
    ['{enabled: 1}', 'WORKTREE_INVALID_ENABLED SPRINT.yaml:3:21'],
    ['{enabled: true, branch: 5}', 'WORKTREE_INVALID_BRANCH SPRINT.yaml:3:35'],
    ['{enabled: true, branch: ""}', 'WORKTREE_EMPTY_BRANCH SPRINT.yaml:3:35'],
    ['{enabled: true, branch: "a b"}', 'WORKTREE_INVALID_BRANCH_NAME SPRINT.yaml:3:35'],
    ['{enabled: true, path: []}', 'WORKTREE_INVALID_PATH SPRINT.yaml:3:33'],
    ['{enabled: true, path: " "}', 'WORKTREE_EMPTY_PATH SPRINT.yaml:3:33'],
    ['{enabled: true, path: "-rf"}', 'WORKTREE_INVALID_PATH SPRINT.yaml:3:33'],
    ['{enabled: true, cleanup: 5}', 'WORKTREE_INVALID_CLEANUP SPRINT.yaml:3:36'],
    ['{enabled: true, cleanup: later}', 'WORKTREE_INVALID_CLEANUP_MODE SPRINT.yaml:3:36'],
  ])('is refused with worktree: %s', (worktree, code) => {
    expect(errors(`${items('{prompt: a}')}worktree: ${worktree}\n`)).toEqual([code])
  })

  it('reports all its errors at once, from top to bottom', () => {
    const sprint = `
workflow: w
lmits: {usd: 1}
limits: {usd: -1}
collections:
  step:
    - {id: a}
    - {prompt: b, depends-on: [zzz]}
  other: x
worktree: {cleanup: never}
`
    const { diagnostics } = compileTest(sprint, { w: eachStep })

    expect(listErrors(diagnostics)).toEqual([
      'INVALID_FIELD SPRINT.yaml:4:15',
      'MISSING_ITEM_PROMPT SPRINT.yaml:7:7',
      'DEPENDENCY_NOT_FOUND SPRINT.yaml:8:32',
      'INVALID_COLLECTION SPRINT.yaml:9:10',
      'WORKTREE_MISSING_ENABLED SPRINT.yaml:10:11',
    ])
    expect(listWarnings(diagnostics)).toEqual(['UNKNOWN_FIELD SPRINT.yaml:3:1', 'UNUSED_COLLECTION SPRINT.yaml:9:3'])
  })
})

describe('a workflow', () => {
  it.each([
    ['no name', 'phases: [{id: work, for-each: step}]\n', 'MISSING_WORKFLOW_NAME w.yaml:1:1'],
    ['an empty name', 'name: ""\nphases: [{id: work, for-each: step}]\n', 'MISSING_WORKFLOW_NAME w.yaml:1:7'],
    [
      'an unknown mode',
      'name: W\nmode: rolf\nphases: [{id: work, for-each: step}]\n',
      'INVALID_WORKFLOW_MODE w.yaml:2:7',
    ],
    ['no phases', 'name: W\n', 'MISSING_PHASES w.yaml:1:1'],
    ['phases that are no list', 'name: W\nphases: x\n', 'MISSING_PHASES w.yaml:2:9'],
    ['an empty list of phases', 'name: W\nphases: []\n', 'EMPTY_WORKFLOW w.yaml:2:9'],
    ['a plain text', 'hello\n', 'INVALID_WORKFLOW w.yaml:1:1'],
    ['broken YAML', 'name: "W\n', 'WORKFLOW_PARSE_ERROR w.yaml:2:1'],
    [
      'orchestration',
      'name: W\norchestration: {enabled: true}\nphases: [{id: work, for-each: step}]\n',
      'NOT_SUPPORTED w.yaml:2:1',
    ],
    ['a goal-prompt', 'name: W\ngoal-prompt: p\nphases: [{id: work, for-each: step}]\n', 'NOT_SUPPORTED w.yaml:2:1'],
    ['a protocol', 'name: W\nprotocol: classic\nphases: [{id: work, for-each: step}]\n', 'NOT_SUPPORTED w.yaml:2:1'],
  ])('is refused with %s', (_, workflow, code) => {
    expect(judged(workflow)).toContain(code)
    expect(judged(workflow)).toHaveLength(1)
  })

  it('may switch orchestration off, which is a warning (row 256)', () => {
    const workflow = 'name: W\norchestration: {enabled: false}\nphases: [{id: work, for-each: step}]\n'
    const { diagnostics, progress } = compileTest(items('{prompt: a}'), { w: workflow })

    expect(diagnostics).toMatchObject([{ severity: 'warning', code: 'NOT_SUPPORTED' }])
    expect(progress).toMatchObject({ status: 'not-started' })
  })

  it.each([
    ['x', 'INVALID_PHASE w.yaml:2:38'],
    ['{prompt: p}', 'MISSING_PHASE_ID w.yaml:2:38'],
    ['{id: "", prompt: p}', 'MISSING_PHASE_ID w.yaml:2:43'],
    ['{id: work, prompt: p}', 'DUPLICATE_PHASE_ID w.yaml:2:43'],
    ['{id: ../x, prompt: p}', 'INVALID_ID w.yaml:2:43'],
    ['{id: __proto__, prompt: p}', 'INVALID_ID w.yaml:2:43'],
    ['{id: a}', 'PHASE_MISSING_ACTION w.yaml:2:38'],
    ['{id: a, prompt: ""}', 'PHASE_MISSING_ACTION w.yaml:2:54'],
    ['{id: a, prompt: 5}', 'INVALID_PHASE w.yaml:2:54'],
    ['{id: a, prompt: p, workflow: x}', 'PROMPT_WORKFLOW_MUTUAL_EXCLUSIVE w.yaml:2:38'],
    ['{id: a, workflow: x}', 'PHASE_WORKFLOW_NOT_FOUND w.yaml:2:56'],
    ['{id: a, workflow: ../x}', 'INVALID_WORKFLOW_NAME w.yaml:2:56'],
    ['{id: a, workflow: 5}', 'INVALID_PHASE w.yaml:2:56'],
    ['{id: a, workflow: w}', 'CYCLE_DETECTED w.yaml:2:56'],
    ['{id: a, workflow: ralph}', 'INVALID_WORKFLOW_MODE w.yaml:2:56'],
    ['{id: a, for-each: 5}', 'INVALID_FOREACH w.yaml:2:56'],
    ['{id: a, for-each: ""}', 'EMPTY_FOREACH w.yaml:2:56'],
    ['{id: a, for-each: bug}', 'COLLECTION_NOT_FOUND w.yaml:2:56'],
    ['{id: a, for-each: step, workflow: x}', 'PHASE_WORKFLOW_NOT_FOUND w.yaml:2:72'],
    ['{id: a, for-each: step, collection: 5}', 'INVALID_COLLECTION_REF w.yaml:2:74'],
    ['{id: a, for-each: step, collection: " "}', 'EMPTY_COLLECTION_REF w.yaml:2:74'],
    ['{id: a, for-each: step, collection: bugs}', 'COLLECTION_NOT_FOUND w.yaml:2:74'],
    ['{id: a, prompt: p, collection: step}', 'INVALID_COLLECTION_REF w.yaml:2:69'],
    ['{id: a, prompt: p, parallel: maybe}', 'INVALID_PARALLEL w.yaml:2:67'],
    ['{id: a, workflow: ok, parallel: true}', 'INVALID_PARALLEL w.yaml:2:60'],
    ['{id: a, prompt: p, wait-for-parallel: 1}', 'INVALID_WAIT_FOR_PARALLEL w.yaml:2:76'],
    ['{id: a, prompt: p, break: now}', 'INVALID_BREAK w.yaml:2:64'],
    ['{id: a, prompt: p, model: 5}', 'INVALID_MODEL w.yaml:2:64'],
    ['{id: a, prompt: p, gate: x}', 'INVALID_GATE w.yaml:2:63'],
    ['{id: a, prompt: p, gate: {on-fail: {prompt: f}}}', 'GATE_MISSING_SCRIPT w.yaml:2:63'],
    ['{id: a, prompt: p, gate: {script: " ", on-fail: {prompt: f}}}', 'GATE_EMPTY_SCRIPT w.yaml:2:72'],
    ['{id: a, prompt: p, gate: {script: 5, on-fail: {prompt: f}}}', 'GATE_MISSING_SCRIPT w.yaml:2:72'],
    ['{id: a, prompt: p, gate: {script: s}}', 'GATE_MISSING_ON_FAIL w.yaml:2:63'],
    ['{id: a, prompt: p, gate: {script: s, on-fail: {}}}', 'GATE_MISSING_ON_FAIL_PROMPT w.yaml:2:84'],
    ['{id: a, prompt: p, gate: {script: s, on-fail: {prompt: ""}}}', 'GATE_EMPTY_ON_FAIL_PROMPT w.yaml:2:93'],
    [
      '{id: a, prompt: p, gate: {script: s, on-fail: {prompt: f, max-retries: 0}}}',
      'GATE_INVALID_MAX_RETRIES w.yaml:2:109',
    ],
    ['{id: a, prompt: p, gate: {script: s, timeout: -1, on-fail: {prompt: f}}}', 'GATE_INVALID_TIMEOUT w.yaml:2:84'],
    ['{id: a, prompt: p, gate: {script: s, timeout: soon, on-fail: {prompt: f}}}', 'GATE_INVALID_TIMEOUT w.yaml:2:84'],
    ['{id: a, workflow: gated, gate: {script: s, on-fail: {prompt: f}}}', 'INVALID_GATE w.yaml:2:69'],
  ])('is refused with the phase %s', (phase, code) => {
    const more = {
      ok: 'name: Ok\nphases: [{id: x, prompt: y}]\n',
      gated: 'name: G\nphases: [{id: x, prompt: y, gate: {script: s, on-fail: {prompt: f}}}]\n',
    }

    expect(judged(phases(phase), more)).toEqual([code])
  })

  it('is refused if an inserted phase gets the id of another one', () => {
    const w = phases('{id: a-b, prompt: x}, {id: a, workflow: inner}')

    expect(judged(w, { inner: 'name: I\nphases: [{id: b, prompt: x}]\n' })).toEqual([
      'DUPLICATE_PHASE_ID inner.yaml:2:15',
    ])
  })

  it('is refused if that happens in the workflow of an item', () => {
    const w = 'name: W\nphases: [{id: work, for-each: step, workflow: item}]\n'
    const item = 'name: I\nphases: [{id: a, workflow: x}, {id: a-b, workflow: x}]\n'
    const x = 'name: X\nphases: [{id: b-c, prompt: p}, {id: c, prompt: q}]\n'

    expect(judged(w, { item, x })).toEqual(['DUPLICATE_PHASE_ID x.yaml:2:37'])
  })

  it('is refused if the workflow of an item has for-each', () => {
    const w = 'name: W\nphases: [{id: work, for-each: step, workflow: inner}]\n'

    expect(judged(w, { inner: 'name: I\nphases: [{id: b, for-each: step}]\n' })).toEqual([
      'INVALID_FOREACH inner.yaml:2:28',
    ])
  })

  it.each([
    ['x', 'INVALID_WORKFLOW_WORKTREE w.yaml:3:11'],
    ['{cleanup: never}', 'WORKFLOW_WORKTREE_MISSING_ENABLED w.yaml:3:11'],
    ['{enabled: maybe}', 'WORKFLOW_WORKTREE_INVALID_ENABLED w.yaml:3:21'],
    ['{enabled: true, branch-prefix: 5}', 'WORKFLOW_WORKTREE_INVALID_BRANCH_PREFIX w.yaml:3:42'],
    ['{enabled: true, branch-prefix: "a b/"}', 'WORKFLOW_WORKTREE_INVALID_BRANCH_PREFIX w.yaml:3:42'],
    ['{enabled: true, path-prefix: 5}', 'WORKFLOW_WORKTREE_INVALID_PATH_PREFIX w.yaml:3:40'],
    ['{enabled: true, cleanup: []}', 'WORKFLOW_WORKTREE_INVALID_CLEANUP w.yaml:3:36'],
    ['{enabled: true, cleanup: later}', 'WORKFLOW_WORKTREE_INVALID_CLEANUP_MODE w.yaml:3:36'],
  ])('is refused with worktree: %s', (worktree, code) => {
    expect(judged(`name: W\nphases: [{id: work, for-each: step}]\nworktree: ${worktree}\n`)).toEqual([code])
  })

  it('with a newer schema version is read with a warning', () => {
    const { progress, diagnostics } = compileTest(items('{prompt: a}'), { w: `${eachStep}schema-version: "9"\n` })

    expect(progress).toBeDefined()
    expect(listWarnings(diagnostics)).toEqual(['INVALID_FIELD w.yaml:3:17'])
  })
})

describe('an unknown field', () => {
  it.each([
    ['SPRINT.yaml', 'collectons: {}\n', 'did you mean "collections"?'],
    ['a group', 'limits: {no-progres: 3}\n', 'did you mean "no-progress"?'],
    ['the other spelling of a group', 'retry: {maxAttempts: 2, retry-on: [timeout]}\n', 'did you mean "retryOn"?'],
    ['a check', 'done-when: [{run: x, each-iteraton: true}]\n', 'did you mean "each-iteration"?'],
  ])('in %s is a warning with a suggestion', (_, lines, hint) => {
    const { progress, diagnostics } = compileTest(`${items('{prompt: a}')}${lines}`, { w: eachStep })

    expect(progress).toBeDefined()
    expect(diagnostics.map(({ severity, code, hint: said }) => ({ severity, code, said }))).toEqual([
      { severity: 'warning', code: 'UNKNOWN_FIELD', said: hint },
    ])
  })
})
