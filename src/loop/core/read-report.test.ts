import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Report } from '../../contract/report.ts'
import { goalForm, readReport } from '../ways/goal/goal-report.ts'
import { findReport } from './read-report.ts'

const emptyLists = { completedStepIds: [], pendingSteps: [] }
const first = { status: 'continue', summary: 'first', ...emptyLists }
const second = { status: 'continue', summary: 'second', ...emptyLists }
const done = { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'done', ...emptyLists }

const fenced = (value: unknown, fence = '```', info = 'json') => `${fence}${info}\n${JSON.stringify(value)}\n${fence}`

const read = (message: string, prompt = '', structured?: unknown) => readReport(message, prompt, structured)

describe('a report is found', () => {
  it.each<[string, string, unknown]>([
    ['in a fenced block', fenced(first), first],
    ['after prose', `Did it.\n\n${fenced(first)}`, first],
    ['before prose', `${fenced(first)}\n\nThat is all.`, first],
    ['in the last of several blocks', `${fenced(first)}\n\n${fenced(second)}`, second],
    ['in the last valid block', `${fenced(first)}\n${fenced(second)}\n${fenced({ status: 'finished' })}`, second],
    ['before a block that is not JSON', `${fenced(first)}\n\`\`\`json\n{oops\n\`\`\``, first],
    ['before a block of another language', `${fenced(first)}\n${fenced(second, '```', 'js')}`, first],
    ['in a block without a language', fenced(first, '```', ''), first],
    ['in a block marked JSON', fenced(first, '```', 'JSON'), first],
    ['in a block with a title', fenced(first, '```', 'json title="report"'), first],
    ['between tildes', fenced(first, '~~~'), first],
    ['between many backticks', fenced(first, '``````'), first],
    ['in a block that is closed by a longer fence', `\`\`\`json\n${JSON.stringify(first)}\n\`\`\`\`\``, first],
    ['in an indented block', `1. Report:\n\n   ${fenced(first).replaceAll('\n', '\n   ')}`, first],
    ['in a block that is never closed', `\`\`\`json\n${JSON.stringify(first)}`, first],
    ['with CRLF', `Done.\n\n\`\`\`json\n${JSON.stringify(first, null, 2)}\n\`\`\`\n`.replaceAll('\n', '\r\n'), first],
    ['after code within a line', `\`\`\`npm test\`\`\` is green.\n\n${fenced(first)}`, first],
    ['with backticks in its strings', fenced({ ...first, summary: 'use ```js' }), { ...first, summary: 'use ```js' }],
    ['with unknown fields', fenced({ ...first, mood: 'good' }), first],
    ['without the optional fields', fenced({ status: 'continue', summary: 'first' }), first],
  ])('%s', (_, message, report) => {
    expect(read(message)).toEqual({ kind: 'report', report })
  })

  it('in the structured output of the driver, whatever the message says', () => {
    expect(read(fenced(first), '', second)).toEqual({ kind: 'report', report: second })
  })

  it.each([undefined, null, 'text', 7, {}, { status: 'goal-complete', summary: '' }])(
    'in the message if the structured output is invalid: %j',
    (structured) => {
      expect(read(fenced(first), '', structured)).toEqual({ kind: 'report', report: first })
    },
  )
})

describe('a message that was requested as a bare report', () => {
  const formal = { ...second, humanNeeded: null }
  const held = (text: string, prompt = '') => findReport(goalForm, { text, structuredOnly: true }, prompt)

  it('may lack a fence', () => {
    expect(held(`${JSON.stringify(formal)}\n`)).toEqual({ kind: 'report', report: second })
    expect(held(fenced(first))).toEqual({ kind: 'report', report: first })
    expect(read(JSON.stringify(formal))).toMatchObject({ kind: 'malformed' })
  })

  it.each(['7', '"text"', '{}', 'no', '[]'])('is not a report just because it is JSON: %s', (text) => {
    expect(held(text)).toMatchObject({ kind: 'malformed' })
  })

  it('is not a report if it occurs in the prompt', () => {
    expect(held(JSON.stringify(formal), `as in ${JSON.stringify(formal)}`)).toMatchObject({ kind: 'malformed' })
  })
})

describe('the old form', () => {
  it.each<[string, string]>([
    ['on a line of its own', 'All good.\nRALPH_COMPLETE: done'],
    ['indented, with blanks around', ' \t RALPH_COMPLETE:   done  '],
    ['without a blank', 'RALPH_COMPLETE:done'],
    ['with CRLF', 'x\r\nRALPH_COMPLETE: done\r\ny'],
    ['as our prompts have to write it', 'RALPH_COMPLETE : done'],
    ['the last of several', 'RALPH_COMPLETE: almost\nRALPH_COMPLETE: done'],
    ['beside a block that is no report', `${fenced({ a: 1 })}\nRALPH_COMPLETE: done`],
  ])('claims that the goal is reached: %s', (_, message) => {
    expect(read(message)).toEqual({ kind: 'report', report: done })
  })

  it('has lower precedence than a valid block', () => {
    expect(read(`RALPH_COMPLETE: done\n${fenced(first)}`)).toEqual({ kind: 'report', report: first })
  })

  it.each([
    ['within a sentence', 'I will write RALPH_COMPLETE: done at the end.'],
    ['without a summary', 'RALPH_COMPLETE:  '],
    ['without the colon', 'RALPH_COMPLETE'],
    ['in another spelling', 'ralph_complete: done'],
    ['in a longer word', 'NOT_RALPH_COMPLETE: done'],
  ])('claims nothing %s', (_, message) => {
    expect(read(message)).toMatchObject({ kind: 'malformed' })
  })
})

describe('nothing is reported', () => {
  it.each<[string, string, RegExp]>([
    ['an empty message', '', /^the final message is empty$/],
    ['blanks', ' \n\t\n', /^the final message is empty$/],
    ['prose', 'I did a lot.', /^the final message has no ```json block with a report$/],
    ['bare JSON', JSON.stringify(first), /has no ```json block/],
    ['JSON in a line', `Here: \`${JSON.stringify(first)}\``, /has no ```json block/],
    ['a fence in a quote', fenced(first).replaceAll(/^/gm, '> '), /has no ```json block/],
    ['a block of another language', fenced(first, '```', 'text'), /has no ```json block/],
    ['a fence of two backticks', fenced(first, '``'), /has no ```json block/],
    ['a report inside another block', `\`\`\`\`markdown\n${fenced(first)}\n\`\`\`\``, /has no ```json block/],
    ['a report inside a block between tildes', `~~~\n${fenced(first)}\n~~~`, /is not JSON/],
    ['broken JSON', '```json\n{"status": "continue",\n```', /^the last fenced block is not JSON: ./],
    ['a comment in JSON', '```json\n{"status": "continue", // next\n"summary": ""}\n```', /is not JSON/],
    [
      'two reports in one block',
      `\`\`\`json\n${JSON.stringify(first)}\n${JSON.stringify(second)}\n\`\`\``,
      /is not JSON/,
    ],
    ['an empty block', '```json\n```', /has no ```json block/],
    ['a list', fenced([first]), /^the last fenced block is not a report: /],
    ['null', fenced(null), /is not a report/],
    ['an unknown status', fenced({ ...first, status: 'finished' }), /is not a report: status: /],
    ['no summary', fenced({ status: 'continue' }), /is not a report: summary: /],
    ['goal-complete without its summary', fenced({ ...first, status: 'goal-complete' }), /: goalCompleteSummary: /],
    ['goal-complete with an empty summary', fenced({ ...done, goalCompleteSummary: ' ' }), /: goalCompleteSummary: /],
    ['needs-human without a question', fenced({ ...first, status: 'needs-human' }), /: humanNeeded: /],
    [
      'needs-human without details',
      fenced({ ...first, status: 'needs-human', humanNeeded: { reason: 'x' } }),
      /: humanNeeded\.details: /,
    ],
    ['ids that are no list', fenced({ ...first, completedStepIds: 'step-0' }), /: completedStepIds: /],
    ['a step without a text', fenced({ ...first, pendingSteps: [{ id: null }] }), /: pendingSteps\.0\.prompt: /],
    [
      'a step with an empty text',
      fenced({ ...first, pendingSteps: [{ id: null, prompt: ' ' }] }),
      /: pendingSteps\.0\./,
    ],
    [
      'a step with a number as id',
      fenced({ ...first, pendingSteps: [{ id: 1, prompt: 'x' }] }),
      /: pendingSteps\.0\.id: /,
    ],
  ])('by %s, and the reason says so', (_, message, reason) => {
    const end = read(message)

    expect(end).toMatchObject({ kind: 'malformed', reason: expect.stringMatching(reason) })
  })

  it('by text from the prompt, in any layout', () => {
    const prompt = `Goal: answer with\n${fenced(first)}\nor with\nRALPH_COMPLETE : done`

    expect(read(fenced(first), prompt)).toMatchObject({ kind: 'malformed' })
    expect(read(`\`\`\`json\n${JSON.stringify(first, null, 4)}\n\`\`\``, prompt)).toMatchObject({ kind: 'malformed' })
    expect(read('RALPH_COMPLETE: done', prompt)).toMatchObject({ kind: 'malformed' })
    expect(read(fenced(second), prompt)).toEqual({ kind: 'report', report: second })
  })

  it('by an echo at the end, which does not hide the report before it', () => {
    expect(read(`${fenced(second)}\n${fenced(first)}`, fenced(first))).toEqual({ kind: 'report', report: second })
  })
})

describe('any message', () => {
  const fence = fc.constantFrom('```', '````', '~~~', '```json', '~~~ json', '``` js', '```x```', '  ```', '>```')
  const valid = fc.constantFrom(first, second, done).map((report) => JSON.stringify(report))
  const cut = fc.tuple(valid, fc.nat(99)).map(([json, end]) => json.slice(0, end))
  const value = fc.jsonValue({ maxDepth: 1 })
  const wrong = fc
    .record({ status: fc.constantFrom('continue', 'goal-complete', 'needs-human', 7), summary: value })
    .map((report) => JSON.stringify(report))
  const other = fc.constantFrom('RALPH_COMPLETE: x', '', '\r', '\u2028', '{}', 'null')
  const line = fc.oneof(fence, valid, cut, wrong, other, fc.string({ maxLength: 20 }))
  const message = fc
    .tuple(fc.array(line, { maxLength: 10 }), fc.constantFrom('\n', '\r\n'))
    .map(([lines, end]) => lines.join(end))

  it('is read without an error, and yields only a valid report that occurs in it', () => {
    let reports = 0
    fc.assert(
      fc.property(message, fc.option(value, { nil: undefined }), (text, structured) => {
        const end = read(text, '', structured)
        if (end.kind === 'malformed') return end.reason !== ''
        reports += 1
        return Report.safeParse(end.report).success && isSaid(text, end.report)
      }),
      { seed: 20_260_118, numRuns: 20_000 },
    )
    expect(reports).toBeGreaterThan(1000)
  }, 60_000)

  it.each([
    ['backticks', '`'.repeat(1e6)],
    ['backticks that are no fence', `${'`'.repeat(5e5)}x\``],
    ['blanks', ' '.repeat(1e6)],
    ['blanks after the older form', `RALPH_COMPLETE:${' '.repeat(1e6)}`],
    ['blocks', '```\n'.repeat(2e5)],
    ['brackets', `\`\`\`json\n${'['.repeat(1e6)}`],
  ])('of a million %s is read quickly', (_, text) => {
    const began = performance.now()
    read(text)

    expect(performance.now() - began).toBeLessThan(3000)
  })
})

/** Whether a report occurs in a message: on one line as JSON, or in the old form. */
function isSaid(message: string, report: Report): boolean {
  const lines = message.split(/\r?\n/)
  if (lines.some((line) => line.trim() === `RALPH_COMPLETE: ${report.summary}`)) return true
  return lines.some((line) => {
    try {
      const parsed = Report.safeParse(JSON.parse(line))
      return parsed.success && JSON.stringify(parsed.data) === JSON.stringify(report)
    } catch {
      return false
    }
  })
}
