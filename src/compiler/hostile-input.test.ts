import { describe, expect, it } from 'vitest'
import { compileProgress, compileTest, listErrors } from '../../test/support/compile.ts'
import { compile } from './compile.ts'

const MiB = 1_048_576
const repeated = (text: string) => text.repeat(MiB / text.length)
const eachStep = 'name: W\nphases: [{id: work, for-each: step}]\n'

const many = (inner: string) =>
  `name: N\nphases:\n${Array.from({ length: 100 }, (_, index) => `  - {id: p${index}, ${inner}}\n`).join('')}`

const long = (count: number) =>
  `workflow: w\ncollections:\n  step:\n${Array.from(
    { length: count },
    (_, index) =>
      `    - prompt: do thing ${index}\n      id: item-${index}\n      depends-on: [${index === 0 ? '' : `item-${index - 1}`}]\n`,
  ).join('')}`

/** CPU time in milliseconds, independent of the load of the machine. */
function work(run: () => void): number {
  const before = process.cpuUsage()
  run()
  return process.cpuUsage(before).user / 1000
}

const best = (text: string): number =>
  [1, 2, 3].map(() => work(() => compileTest(text, { w: eachStep }))).reduce((a, b) => (b < a ? b : a))

/** Ten times the slowest case, measured as the first work of a fresh process. */
const soon = 2000

describe('a hostile file', () => {
  const bomb = ['a: &a [x, x, x, x, x, x, x, x, x]']
  for (let level = 1; level < 10; level++)
    bomb.push(
      `a${level}: &a${level} [${Array.from({ length: 9 }, () => (level === 1 ? '*a' : `*a${level - 1}`)).join(', ')}]`,
    )

  it.each([
    ['an alias bomb', bomb.join('\n'), /aliases/],
    ['very many aliases', `- &a x\n${'- *a\n'.repeat(150)}`, /aliases/],
    ['an alias of itself', 'a: &a [*a]\n', /no anchor before it/],
    ['an alias of nothing', 'a: *b\n', /alias/i],
    ['more than 1 MiB', 'x'.repeat(MiB + 1), /larger than 1 MiB/],
    ['more than 1 MiB of umlauts', 'ü'.repeat(MiB / 2 + 1), /larger than 1 MiB/],
    ['deep brackets', repeated('['), /nested too deeply/],
    ['deep braces', repeated('{a: '), /nested too deeply/],
    ['deep dashes', repeated('- '), /nested too deeply/],
    ['deep question marks', repeated('? '), /nested too deeply/],
    [
      'deep indentation',
      Array.from({ length: 1000 }, (_, depth) => `${' '.repeat(depth)}a:`).join('\n'),
      /nested too deeply/,
    ],
    ['a long list', repeated('- a\n'), /too many/],
    ['a long flow list', `[${repeated('a,').slice(2)}]`, /too many/],
    ['a long list in a field', `x:\n${'  - a\n'.repeat(90_000)}`, /too many/],
    ['a big map', Array.from({ length: 60_000 }, (_, key) => `k${key}: 1`).join('\n'), /too many/],
    ['a huge item', `steps:\n  - [${'a,'.repeat(100_000)}]\n`, /too many/],
    ['only newlines', repeated('\n'), /too many/],
    ['only comments', repeated('#\n'), /too many/],
    ['only documents', repeated('---\n'), /too many/],
    ['only tags', repeated('!a '), /too many/],
    ['only tabs', repeated('\t- a\n').slice(0, MiB), /too many/],
    ['only directives', repeated('%a\n'), /too many/],
    ['an endless quote', `a: "${'\n'.repeat(MiB - 10)}`, /too many/],
    ['a long key', `? ${'a'.repeat(MiB - 2)}`, /./],
    ['one long word', 'a'.repeat(MiB), /must be a map/],
    ['control characters', '\u0000\u0001\u001b[31m: x', /./],
    ['a lone surrogate', 'a: "\ud800"\nworkflow: w', /./],
    ['a merge of itself', 'a: &a\n  <<: *a\n', /no anchor before it/],
    ['the older YAML', '%YAML 1.1\n---\nworkflow: w\ncollections: {step: [{prompt: p}]}\nx: !!binary aGk=\n', /./],
  ])('with %s is refused quickly, with a place', (_, text, message) => {
    const { progress, diagnostics } = compileTest(text, { w: eachStep })

    expect(work(() => compileTest(text, { w: eachStep }))).toBeLessThan(soon)
    expect(progress).toBeUndefined()
    expect(diagnostics.map((diagnostic) => diagnostic.message).join('\n')).toMatch(message)
    expect(diagnostics[0]?.place).toMatchObject({
      file: 'SPRINT.yaml',
      line: expect.any(Number),
      column: expect.any(Number),
    })
  })

  it('is also refused as a workflow and as the user configuration', () => {
    const text = repeated('[')
    const sprint = 'workflow: w\n'

    expect(listErrors(compileTest(sprint, { w: text }).diagnostics)).toEqual(['WORKFLOW_PARSE_ERROR w.yaml:1:101'])
    expect(
      listErrors(
        compileTest('workflow: ralph\ngoal: g\n', {}, { userConfig: { file: 'config.yaml', text } }).diagnostics,
      ),
    ).toEqual(['INVALID_FIELD config.yaml:1:101'])
  })
})

describe('a sprint that becomes too large', () => {
  it('through workflows that insert each other many times is refused', () => {
    const files = { a: many('workflow: b'), b: many('workflow: c'), c: many('workflow: d'), d: many('prompt: x') }

    expect(listErrors(compileTest('workflow: a\n', files).diagnostics)).toEqual([
      'EXPANSION_TOO_LARGE SPRINT.yaml:1:11',
    ])
    expect(work(() => compileTest('workflow: a\n', files))).toBeLessThan(soon)
  })

  it('through a long prompt for many items is refused', () => {
    const w = `name: W\nphases: [{id: a, for-each: step, prompt: "${'x'.repeat(500_000)} {{item.id}}"}]\n`
    const sprint = `workflow: w\nsteps: [${'p, '.repeat(1000)}]\n`

    expect(listErrors(compileTest(sprint, { w }).diagnostics)).toEqual(['EXPANSION_TOO_LARGE SPRINT.yaml:1:11'])
  })
})

describe('an unusual but honest file', () => {
  it.each([
    ['a byte order mark', '\ufeffworkflow: ralph\ngoal: g\n'],
    ['the line ends of Windows', 'workflow: ralph\r\ngoal: |\r\n  g\r\n'],
    ['a few aliases', 'workflow: ralph\ngoal: &g g\nname: *g\n'],
    ['comments and a document start', '# x\n---\nworkflow: ralph # y\ngoal: g\n...\n'],
    ['a long goal', `workflow: ralph\ngoal: |\n${'  [x] {y}, - z: &a *b "c" \n'.repeat(30_000)}`],
  ])('with %s compiles', (_, sprint) => {
    expect(compileProgress(sprint).mode).toBe('ralph')
  })
})

describe('a file with very many mistakes', () => {
  it('reports the first ones, and that there are more', () => {
    const sprint = `workflow: w\ncollections:\n  step:\n${'    - {id: 5}\n'.repeat(5000)}`
    const { diagnostics } = compileTest(sprint, { w: eachStep })

    expect(diagnostics.length).toBeLessThan(210)
    expect(diagnostics.map(({ code }) => code)).toContain('TOO_MANY_PROBLEMS')
  })

  it('reports the same if the mistakes are in the references of items', () => {
    const sprint = `workflow: w\ncollections:\n  step:\n${'    - {prompt: a, depends-on: [absent]}\n'.repeat(2000)}`
    const { diagnostics } = compileTest(sprint, { w: eachStep })

    expect(diagnostics).toHaveLength(201)
    expect(diagnostics.at(-1)?.message).toBe('and 1800 more')
  })
})

describe('a long sprint', () => {
  it('of ten thousand items that each depend on the previous one compiles', () => {
    const progress = compileProgress(long(10_000), { w: eachStep })

    expect(progress.stats).toMatchObject({ totalSteps: 10_000, totalPhases: 10_001 })
  }, 60_000)

  it('compiles in linear time', () => {
    best(long(300))

    // The target is 12; the margin allows for garbage collection that hits only one of the runs.
    expect(best(long(3000))).toBeLessThan(18 * best(long(300)))
  }, 60_000)
})

describe('a reader of workflows', () => {
  it('is never called with a path', () => {
    const readNames: string[] = []
    const names = ['../x', '/x', 'a/b', '..', '.x', 'a\\b', 'x y', '~', '$HOME', 'a\u0000b', '-x', '']
    for (const name of names)
      compile({
        sprint: { file: 'SPRINT.yaml', text: `workflow: ${JSON.stringify(name)}\n` },
        readWorkflow: (requested) => void readNames.push(requested),
        defaultSprintId: 'x',
        at: 0,
      })

    expect(readNames).toEqual([])
  })
})
