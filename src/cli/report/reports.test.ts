import { describe, expect, it } from 'vitest'
import { buildProgress, buildStep, noon } from '../../../test/support/builders.ts'
import { noUsage } from '../../contract/outcome.ts'
import type { IterationRecord, Progress } from '../../contract/progress.ts'
import { escapeHtml, html } from '../../words/report/html.ts'
import { renderHtmlReport } from '../../words/report/html-report.ts'
import { escapeReportText } from '../../words/markdown.ts'
import { renderMarkdownReport } from './markdown-report.ts'
import { createBoundedLines, truncatePatch, type ReportData } from '../../words/report/report-data.ts'

const createIteration = (overrides: Partial<IterationRecord> = {}): IterationRecord => ({
  number: 1,
  mode: 'executing',
  verdict: 'continue',
  attempts: 1,
  startedAt: noon,
  endedAt: noon + 60_000,
  costUsd: 0.5,
  usage: noUsage,
  ...overrides,
})

function createReportData(
  overrides: Partial<ReportData['history']> & { readonly progress?: Progress } = {},
): ReportData {
  const progress = overrides.progress ?? buildProgress()
  return {
    history: { progress, iterations: [], steps: [], hookTasks: [], waits: [], ...overrides },
    madeAt: noon,
    diffs: new Map(),
    transcripts: new Map(),
    checkOutputs: new Map(),
  }
}

const hostile = `</pre></details><script>alert(1)</script><img src=x onerror="alert(1)"> ' " & \u202e\u0000`

/** Hostile text for every field that a foreign author controls. */
const createHostileData = (): ReportData => ({
  ...createReportData({
    progress: buildProgress({
      goal: hostile,
      reason: hostile,
      sprintId: hostile,
      baseline: [{ name: hostile, passed: false }],
      humanNeeded: { reason: hostile, details: hostile, askedAt: noon },
      ralphExit: { detectedAt: noon, iteration: 1, finalSummary: hostile },
    }),
    iterations: [
      createIteration({
        summary: hostile,
        agent: hostile,
        model: hostile,
        checkpoint: '<b>',
        rejected: [hostile],
        tampered: [hostile],
        checks: [{ name: hostile, passed: true }],
      }),
    ],
    steps: [buildStep({ prompt: hostile, id: 'step-0' })],
    waits: [{ from: noon, until: noon + 1, reason: hostile }],
  }),
  diffs: new Map([[1, `+${hostile}\n-${hostile}\n ${hostile}`]]),
  transcripts: new Map([[1, [hostile, hostile]]]),
  checkOutputs: new Map([[1, [hostile]]]),
})

/** Returns the tag names of a page; fails on unbalanced tags. */
function listTags(page: string): string[] {
  const open: string[] = []
  const wrong: string[] = []
  const all = [...page.matchAll(/<(\/?)([a-z][a-z0-9]*)(?:\s[^<>]*?)?(\/?)\s*>/g)].flatMap(
    ([tag, slash, name = '', own]) => {
      if (slash === '' && own === '') open.push(name)
      if (slash === '/' && open.pop() !== name) wrong.push(tag)
      return slash === '' ? [name] : []
    },
  )
  expect({ open, wrong }).toEqual({ open: [], wrong: [] })
  return all
}

describe('markup', () => {
  it('escapes its values unless they are markup', () => {
    expect(html`<p title="${'"x"'}">${'<b>'}${html`<i>${1}</i>`}${[html`<u></u>`]}</p>`.html).toBe(
      '<p title="&quot;x&quot;">&lt;b&gt;<i>1</i><u></u></p>',
    )
  })

  it('shows where invisible characters were', () => {
    expect(escapeHtml('a\u202eb\u0000c\nd\te')).toBe('a\ufffdb\ufffdc\nd\te')
  })
})

describe('the page', () => {
  it('escapes hostile text from every source', () => {
    const page = renderHtmlReport(createHostileData())

    expect(new Set(listTags(page))).not.toContain('script')
    expect(['<img', '<script', '\u202e', '\u0000'].filter((bad) => page.includes(bad))).toEqual([])
    expect(page.match(/&lt;script&gt;/g)?.length).toBeGreaterThan(12)
  })

  it('loads nothing external', () => {
    const page = renderHtmlReport(createHostileData())

    expect(page).not.toMatch(/\s(?:src|srcset|action|data|xlink:href)="|url\(|@import|<link|<script/i)
    expect([...page.matchAll(/\shref="([^"]*)"/g)].every(([, link = '']) => link.startsWith('#i'))).toBe(true)
    expect(page).toContain(`default-src 'none'`)
  })

  it('draws a bar for each iteration in each chart, and marks the checks', () => {
    const iterations = [
      createIteration({ number: 1, checks: [{ name: 'unit', passed: false }] }),
      createIteration({ number: 2, costUsd: null, checks: [{ name: 'unit', passed: true }], verdict: 'accepted' }),
    ]
    const page = renderHtmlReport(createReportData({ iterations }))

    expect(listTags(page).filter((name) => name === 'rect')).toHaveLength(4)
    expect(page).toMatch(/<th>unit<\/th>\s*<td class="bad">✗<\/td>\s*<td class="good">✓<\/td>/)
    expect(page).toContain('unpriced')
  })

  it('keeps the lines of transcripts and of what checks printed', () => {
    const data = {
      ...createReportData({ iterations: [createIteration()] }),
      transcripts: new Map([[1, ['one', '  two']]]),
      checkOutputs: new Map([[1, ['== check npm test: exit code 1', '2 failed']]]),
    }

    expect(renderHtmlReport(data)).toContain('<pre>one\n  two\n</pre>')
    expect(renderHtmlReport(data)).toContain('<pre>== check npm test: exit code 1\n2 failed\n</pre>')
  })

  it('renders a sprint without iterations, and one with thousands', () => {
    const many = Array.from({ length: 3000 }, (_, index) => createIteration({ number: index + 1 }))

    expect(listTags(renderHtmlReport(createReportData()))).toContain('main')
    expect(
      listTags(renderHtmlReport(createReportData({ iterations: many }))).filter((name) => name === 'article'),
    ).toHaveLength(3000)
  })
})

describe('Markdown', () => {
  it('shows the final status, the totals and the completed work', () => {
    const progress = buildProgress({
      status: 'completed',
      stats: { currentIteration: 1, totalSteps: 1, completedSteps: 1, costUsd: 0.5, activeMs: 60_000 },
      ralphExit: { detectedAt: noon, iteration: 1, finalSummary: 'all done' },
      doneWhen: [{ run: 'npm test', timeout: 1, eachIteration: false, protect: false }],
    })
    const data = createReportData({
      progress,
      iterations: [
        createIteration({ agent: 'claude', summary: 'did | it', checks: [{ name: 'npm test', passed: true }] }),
      ],
      steps: [buildStep({ prompt: 'write it', status: 'completed' })],
    })

    expect(renderMarkdownReport(data)).toBe(`## ✅ 2026-01-18\\_sprint: completed

Ship it

**all done**

| iterations | steps | checks | working time | cost | tokens |
| --- | --- | --- | --- | --- | --- |
| 1 | 1 of 1 | npm test | 1 min 0 s | $0.50 | 0 in, 0 out |

<details><summary>1 iteration</summary>

| # | mode | verdict | agent | cost | time | checks | summary |
| ---: | --- | --- | --- | ---: | ---: | --- | --- |
| 1 | executing | continue | claude | $0.50 | 1 min 0 s | 1/1 ✓ | did \\| it |

</details>

<details><summary>1 step</summary>

- [x] write it

</details>

<sub>Made by ralph report, 2026-01-18T12:00:00.000Z</sub>
`)
  })

  it.each([
    ['@everyone closes #12', '&#64;everyone closes &#35;12'],
    ['a\n| b | <img src=x>', 'a \\| b \\| &lt;img src=x&gt;'],
    ['[x](https://e.x) `code`', '\\[x\\](https&#58;//e.x) \\`code\\`'],
  ])('neutralizes %j', (text, shown) => {
    expect(escapeReportText(text)).toBe(shown)
  })
})

describe('bounded text', () => {
  it('keeps the first and the last lines, and counts the rest', () => {
    const kept = createBoundedLines(2, 3)
    for (let line = 1; line <= 100; line++) kept.add(String(line))

    expect(kept.lines()).toEqual(['1', '2', '… 95 lines omitted …', '98', '99', '100'])
  })

  it('keeps short text complete', () => {
    const kept = createBoundedLines(2, 3)
    for (const line of ['a', 'b', 'c', 'd', 'e']) kept.add(line)

    expect(kept.lines()).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(truncatePatch('abc', 3)).toBe('abc')
  })

  it('truncates a patch at a line end', () => {
    expect(truncatePatch('one\ntwo\nthree', 9)).toBe('one\ntwo\n… 6 more characters; see: ralph diff')
  })
})
