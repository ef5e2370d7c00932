import { describe, expect, it } from 'vitest'
import { parseScenario } from './scenario.ts'

const parse = (source: string) => parseScenario(source, 'SCENARIO.yaml')

const mistakeIn = (source: string) => {
  try {
    parse(source)
  } catch (error) {
    return error
  }
  return undefined
}

describe('a scenario', () => {
  it('is a list of turns with typed actions', () => {
    const source = `
turns:
  - when: planning
    say: Hello
    pace: 5
    do:
      - say: More
      - read: a.js
      - write: b.js
        content: ''
      - { edit: c.js, replace: old, with: new }
      - delete: d.js
      - run: npm test
      - sleep: 10
      - exit: 3
      - hang: true
      - print: not json
      - limit: { resets-in: 3600 }
    report: { status: continue, summary: Done, completedStepIds: [$STEP] }
`
    expect(parse(source)).toEqual({
      pace: 100,
      turns: [
        {
          when: [/planning/m],
          say: 'Hello',
          pace: 5,
          do: [
            { type: 'say', text: 'More' },
            { type: 'read', path: 'a.js' },
            { type: 'write', path: 'b.js', content: '' },
            { type: 'edit', path: 'c.js', from: 'old', to: 'new' },
            { type: 'delete', path: 'd.js' },
            { type: 'run', command: 'npm test' },
            { type: 'sleep', ms: 10 },
            { type: 'exit', code: 3 },
            { type: 'hang' },
            { type: 'print', line: 'not json' },
            { type: 'limit', resetsInSeconds: 3600 },
          ],
          report: { status: 'continue', summary: 'Done', completedStepIds: ['$STEP'] },
        },
      ],
    })
  })

  it('may have several patterns and an empty turn', () => {
    expect(parse('{ pace: 0, turns: [{ when: [a, ^b] }, {}] }')).toEqual({
      pace: 0,
      turns: [{ when: [/a/m, /^b/m], do: [] }, { do: [] }],
    })
  })
})

describe('a mistake in a scenario is reported with its place', () => {
  it.each([
    { of: 'no turns', source: 'turns: []', at: '1:8', says: /^turns: Too small/ },
    { of: 'a list at the top', source: '- say: a', at: '1:1', says: /expected object/ },
    { of: 'broken YAML', source: 'turns:\n  - say: "open', at: '2:15', says: /closing "quote/ },
    {
      of: 'an unknown field',
      source: 'turns:\n  - sya: hello',
      at: '2:10',
      says: /^turns\[0\]\.sya: Unrecognized key/,
    },
    {
      of: 'an unknown action',
      source: 'turns:\n  - do:\n      - rum: ls',
      at: '3:9',
      says: /^turns\[0\]\.do\[0\]: expected one action: say, read,/,
    },
    {
      of: 'an action that lacks a field',
      source: 'turns:\n  - do:\n      - write: a',
      at: '3:9',
      says: /^turns\[0\]\.do\[0\]\.content: .*string/,
    },
    {
      of: 'a value of the wrong type',
      source: 'turns:\n  - do:\n      - sleep: soon',
      at: '3:16',
      says: /^turns\[0\]\.do\[0\]\.sleep: .*number/,
    },
    { of: 'a bad pattern', source: 'turns:\n  - when: "("', at: '2:11', says: /^turns\[0\]\.when: Invalid regular/ },
    {
      of: 'a report that lacks what its status needs',
      source: 'turns:\n  - report: { status: goal-complete, summary: s }',
      at: '2:13',
      says: /^turns\[0\]\.report\.goalCompleteSummary: /,
    },
    {
      of: 'a second fallback',
      source: 'turns:\n  - say: a\n  - say: b',
      at: '3:5',
      says: /^turns\[1\]: a second turn without `when`/,
    },
  ])('$of', ({ source, at, says }) => {
    const [line, column] = at.split(':').map(Number)
    expect(mistakeIn(source)).toMatchObject({
      code: 'INVALID_SCENARIO',
      place: { file: 'SCENARIO.yaml', line, column },
      message: expect.stringMatching(says),
    })
  })

  it('an empty file, which has no places', () => {
    expect(mistakeIn('')).toMatchObject({ code: 'INVALID_SCENARIO', place: { file: 'SCENARIO.yaml' } })
  })
})
