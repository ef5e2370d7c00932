import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { after, noon, red, started } from '../../../../test/support/builders.ts'
import {
  buildGate,
  buildItem,
  buildPart,
  buildPhase,
  buildStandard,
  completes,
  fails,
  forEach,
  gateEnds,
} from '../../../../test/support/phases.ts'
import type { Progress } from '../../../contract/progress.ts'
import { buildRepairPrompt } from '../../core/session-prompts.ts'
import { buildIterationPrompt, readAttemptReport } from '../../prompts.ts'
import { formatPhaseReporting } from './phase-prompt.ts'

/** The prompt of the first live iteration. */
function buildFirstPrompt(progress: Progress): string {
  const [live] = progress.live
  if (!live) throw new Error('nothing is under way')
  return buildIterationPrompt(progress, live)
}

const start = (progress: Progress) => after(progress, started()).progress

describe('the prompt of a phase', () => {
  it('contains the position, the task and how to report', () => {
    const prompt = buildFirstPrompt(start(buildStandard([buildPhase('a'), buildPhase('b')], { goal: 'Ship it' })))

    expect(prompt).toMatch(/^# Ralph: phase a\n/)
    expect(prompt).toMatch(/## What the sprint is for\s+Ship it/)
    expect(prompt).toContain('- phase 1 of 2: a')
    expect(prompt).toMatch(/## Your task\s+do a\n/)
    expect(prompt).toMatch(/"status": "<completed \| failed \| needs-human>"/)
    expect(prompt).not.toMatch(/item|earlier try|gate/)
  })

  it('names the item, and describes it if the task does not', () => {
    const items = [buildItem('x', { phases: [buildPart('write'), buildPart('test')] }), buildItem('y')]
    const prompt = buildFirstPrompt(start(buildStandard([forEach('work', items)])))

    expect(prompt).toContain('- phase 1 of 1: work\n- item 1 of 2: x\n- part 1 of 2: write')
    expect(prompt).toMatch(/## Item x\s+do x\s+## Your task\s+do write/)
  })

  it('warns about others that work at the same time', () => {
    const prompt = buildFirstPrompt(start(buildStandard([forEach('work', [buildItem('x')], { parallel: true })])))

    expect(prompt).toMatch(/Others work in the same files/)
  })

  it('names the worktree', () => {
    const worktree = { enabled: true, branch: 'sprint/S', path: '../S', cleanup: 'never' } as const

    expect(buildFirstPrompt(start(buildStandard([buildPhase('a')], { worktree })))).toMatch(
      /worktree on branch `sprint\/S`/,
    )
  })

  it('explains why an earlier attempt failed', () => {
    const blocked = after(buildStandard([buildPhase('a')]), started(), fails('a', 'no parser')).progress

    expect(buildFirstPrompt(start(blocked))).toMatch(/## An earlier attempt failed\s+```text\nno parser\n```/)
  })

  it('contains messages, check results and hook output', () => {
    const progress = buildStandard([buildPhase('a')], {
      refusedBy: [red('unit tests', '3 failing')],
      feedback: [{ hookId: 'lint', output: 'semicolon' }],
      answer: { question: 'which?', answer: 'that one', at: noon },
      messages: [{ text: 'mind the gap', at: noon }],
    })

    expect(buildFirstPrompt(start(progress))).toMatch(/3 failing[^]*semicolon[^]*that one[^]*mind the gap/)
  })

  it('is shortened once it was too large', () => {
    const progress = start(buildStandard([buildPhase('a')], { goal: 'Ship it' }))
    const [live] = progress.live
    const prompt = live ? buildIterationPrompt(progress, { ...live, smallPrompt: true, notes: 'learned a lot' }) : ''

    expect(prompt).not.toMatch(/Ship it|learned a lot/)
    expect(prompt).toContain('do a')
  })
})

describe('the prompt to repair a gate', () => {
  const progress = after(
    buildStandard([buildPhase('a', { gate: buildGate() })]),
    started(),
    completes('a'),
    gateEnds('a', 7, { output: '```\nno cheese' }),
  ).progress

  it('shows the script, how it ended and its output', () => {
    const prompt = buildFirstPrompt(progress)

    expect(prompt).toMatch(/## Your task\s+mend it\n/)
    expect(prompt).toMatch(/failed \(exit code 7\), 1 of 3 times/)
    expect(prompt).toContain('```text\nmake check\n```')
    expect(prompt).toContain('````text\n```\nno cheese\n````')
    expect(prompt).toMatch(/## What had been asked for\s+```text\ndo a\n```/)
  })
})

describe('custom prompt sections', () => {
  it('replace the defaults, filled once, and the form of the report stays', () => {
    const prompts = {
      header: '# {{sprint-id}}, {{iteration}}',
      position:
        '{{phase.id}} {{phase.index}}/{{phase.total}} {{step.id}} {{step.index}}/{{step.total}} {{sub-phase.id}} {{step.prompt}}',
      retryWarning: 'tried {{retry-count}} times: {{error}}',
      instructions: 'Be brief.',
      resultReporting: 'Tell me.',
    }
    const retry: Progress['retry'] = { maxAttempts: 3, backoffMs: [0], retryOn: ['logic'] }
    const item = buildItem('x', { prompt: '{{error}} x' })
    const progress = buildStandard([forEach('work', [item])], { prompts, retry })
    const prompt = buildFirstPrompt(after(progress, started(), fails('work/x', 'boom')).progress)

    expect(prompt.slice(0, prompt.indexOf('```json'))).toBe(
      [
        '# 2026-01-18_sprint, 2',
        'work 1/1 x 1/1 execute {{error}} x',
        'tried 1 times: boom',
        '## Item x\n\n{{error}} x',
        '## Your task\n\ndo execute',
        'Be brief.',
        '## Report\n\nTell me.\n\n',
      ].join('\n\n'),
    )
  })
})

describe('reports', () => {
  const progress = start(buildStandard([buildPhase('a')]))
  const json = JSON.stringify({ status: 'completed', summary: 'ok' })
  const text = `\`\`\`json\n${json}\n\`\`\``

  it.each([
    ['completed', { status: 'completed', summary: 'ok' }],
    ['failed', { status: 'failed', summary: 'no', error: 'boom' }],
    ['needs-human', { status: 'needs-human', summary: 's', humanNeeded: { reason: 'which?', details: '' } }],
  ])('%s is read', (_, report) => {
    const message = { text: `Done.\n\n\`\`\`json\n${JSON.stringify(report)}\n\`\`\`` }

    expect(readAttemptReport(progress, message, '')).toEqual({ kind: 'phase-report', report })
    expect(readAttemptReport(progress, { text: '', structured: report }, '')).toEqual({ kind: 'phase-report', report })
  })

  it.each([
    ['goal-complete', '{"status": "goal-complete", "summary": "s", "goalCompleteSummary": "g"}'],
    ['completed without a summary', '{"status": "completed"}'],
    ['needs-human without a question', '{"status": "needs-human", "summary": "s"}'],
    ['a line in the older form', 'RALPH_COMPLETE: done'],
  ])('%s is not a report', (_, answer) => {
    expect(readAttemptReport(progress, { text: `\`\`\`json\n${answer}\n\`\`\`\n${answer}` }, '')).toMatchObject({
      kind: 'malformed',
    })
  })

  it('no echo of any prompt is a report, whatever it contains', () => {
    const trap = fc.constantFrom(text, json, `~~~\n${json}\n~~~`, '```', '````json', `  ${text}`)
    const texts = fc.array(fc.oneof(trap, fc.string()), { maxLength: 5 }).map((parts) => parts.join('\n'))
    fc.assert(
      fc.property(
        fc.array(texts, { minLength: 7, maxLength: 7 }),
        ([goal = '', task = '', item = '', out = '', ...own]) => {
          const part = buildPart('p', {
            prompt: task,
            error: out,
            gate: { ...buildGate(), onFailPrompt: task, script: out },
          })
          const [header, position, resultReporting] = own.map((words) => words || undefined)
          const hostile = { goal, prompts: { header, position, resultReporting }, refusedBy: [red('c', out)] }
          const first = start(
            buildStandard([forEach('work', [buildItem('x', { prompt: item, phases: [part] })])], hostile),
          )
          const second = after(first, completes('work/x'), gateEnds('work/x', 1, { output: out })).progress
          for (const each of [first, second])
            for (const echo of [
              buildFirstPrompt(each),
              `> ${buildFirstPrompt(each).replaceAll('\n', '\n> ')}`,
              buildRepairPrompt(out, formatPhaseReporting()),
            ])
              expect(
                readAttemptReport(
                  each,
                  { text: echo },
                  `${buildFirstPrompt(each)}\n${buildRepairPrompt(out, formatPhaseReporting())}`,
                ),
              ).toMatchObject({
                kind: 'malformed',
              })
        },
      ),
      { seed: 20_261_115, numRuns: 200 },
    )
  })

  it('the described form is not a report, even without the prompt around it', () => {
    const [, form = ''] = /```json\n([^]*?)\n```/.exec(buildFirstPrompt(progress)) ?? []

    expect(JSON.parse(form)).toMatchObject({ summary: expect.any(String) })
    expect(readAttemptReport(progress, { text: `\`\`\`json\n${form}\n\`\`\`` }, '')).toMatchObject({
      kind: 'malformed',
    })
  })
})
