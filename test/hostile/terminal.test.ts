import { describe, expect, it } from 'vitest'
import { transcriptPrinter } from '../../src/words/transcript-lines.ts'
import { sprintDetailLines } from '../../src/cli/commands/status.ts'
import { eventLines } from '../../src/cli/view/event-lines.ts'
import { stripControlSequences, createPaint } from '../../src/cli/io/paint.ts'
import type { AgentEvent, SprintEvent } from '../../src/contract/events.ts'
import { createTestIo } from '../support/test-io.ts'
import { buildHookTask, buildProgress, buildStep } from '../support/builders.ts'

const [esc, bell, csi] = ['\u001b', '\u0007', '\u009b']

/** Sequences that control a terminal: titles, clipboards, links, answers, cursors, colours, writing directions. */
const corpus: readonly string[] = [
  `${esc}]0;owned${bell}`,
  `${esc}]52;c;ZXZpbA==${bell}`,
  `${esc}]8;;http://evil${esc}\\click${esc}]8;;${esc}\\`,
  `${esc}]1337;File=:AAAA${bell}`,
  `${esc}P+q544e${esc}\\`,
  `${esc}_Gf=100;AAAA${esc}\\`,
  `${esc}^pm${esc}\\`,
  ...['2J', 'H', '1A', '?1049h', '6n', 'c', '8m', '5m', '31m', '38;5;1m', '?25l', '!p', '200~'].map(
    (end) => `${esc}[${end}`,
  ),
  ...['c', '7', '8', 'D', 'M', 'Z', '(0', '#8', '='].map((end) => esc + end),
  ...['2J', '6n', '31m'].map((end) => csi + end),
  ...'\u0000|\b\b\b|\u0007|\u000b|\u000c|\r|\u000e|\u007f|\u0085|\u0090|\u009d|\u202e|\u2066|\u2067|\u2069'.split('|'),
  esc,
  `${esc}[`,
  `${esc}]`,
]

// oxlint-disable-next-line no-control-regex -- this is what is looked for
const unsafeCharacter = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/
/** Ralph's own red may stay. */
const isUnsafe = (line: string): boolean => unsafeCharacter.test(line.replaceAll(`${esc}[31m`, ''))
const evil = corpus.map((sequence, index) => `before${index}${sequence}after`).join(' ')

describe(`${corpus.length} sequences that control a terminal`, () => {
  it.each(corpus.map((sequence) => [JSON.stringify(sequence), sequence]))(
    '%s is taken out of a line',
    (_, sequence) => {
      const clean = stripControlSequences(`a${sequence}b`)

      expect(isUnsafe(clean)).toBe(false)
      expect(clean).toMatch(/^a.*b$|^a$/s)
    },
  )

  it('do not reach the display of any event', () => {
    const work = { phase: evil, step: evil }
    const check = { name: evil, passed: false, exitCode: 1, durationMs: 1, output: evil, reason: evil }
    const agent = (event: AgentEvent): SprintEvent => ({ type: 'agent', iteration: 1, attempt: 1, event })
    const events: SprintEvent[] = [
      { type: 'note', level: 'warning', text: evil },
      { type: 'iteration-started', iteration: 1, mode: 'executing', step: evil, stepPrompt: evil },
      { type: 'iteration-started', iteration: 1, mode: 'executing', work, stepPrompt: evil },
      agent({ kind: 'text', text: evil }),
      agent({ kind: 'tool', phase: 'start', id: evil, name: evil, argument: evil }),
      agent({ kind: 'tool', phase: 'end', id: evil, name: evil, output: evil, ok: false }),
      agent({ kind: 'retry', reason: evil }),
      { type: 'attempt-failed', iteration: 1, attempt: 1, class: 'crash', reason: evil },
      { type: 'steps-changed', added: [evil], completed: [evil], pending: 1 },
      { type: 'report-rejected', iteration: 1, reasons: [evil] },
      { type: 'claim-made', iteration: 1, summary: evil },
      { type: 'check-ended', iteration: 1, result: check },
      { type: 'check-ended', iteration: 0, result: check },
      { type: 'claim-refused', iteration: 1, by: [evil], reason: evil },
      { type: 'claim-accepted', iteration: 1, by: [evil], summary: evil },
      {
        type: 'gate-ended',
        iteration: 1,
        work,
        passed: false,
        attempts: 1,
        of: 2,
        exitCode: 1,
        error: evil,
        output: evil,
      },
      { type: 'work-ended', work, status: 'failed', text: evil },
      { type: 'breakpoint-reached', work },
      { type: 'hook-ended', iteration: 1, hook: evil, ok: false, exitCode: 1, error: evil },
      { type: 'question-asked', iteration: 1, reason: evil, details: evil, options: [evil] },
    ]
    const look = { paint: createPaint(false), steps: () => evil, width: 200, project: '/p' }

    expect(events.flatMap((event) => eventLines(event, look)).filter(isUnsafe)).toEqual([])
  })

  it('do not reach a readable transcript', () => {
    const lines: string[] = []
    const printer = transcriptPrinter((line) => void lines.push(line))
    printer.event({ kind: 'session', id: evil, model: evil })
    printer.event({ kind: 'text', text: evil })
    printer.event({
      kind: 'tool',
      phase: 'start',
      id: 't',
      name: evil,
      argument: evil,
      input: { [evil]: evil, x: [evil] },
    })
    printer.event({ kind: 'tool', phase: 'end', id: 't', output: evil, ok: false })
    printer.event({ kind: 'raw', line: evil })
    printer.event({ kind: 'limit', reason: evil })
    printer.event({ kind: 'terminal', ok: false, reason: evil })

    expect(lines.flatMap((line) => line.split('\n')).filter(isUnsafe)).toEqual([])
  })

  it('do not reach the status of a sprint', () => {
    const { io } = createTestIo()
    const progress = buildProgress({
      status: 'needs-human',
      goal: evil,
      reason: evil,
      dynamicSteps: [buildStep({ prompt: evil }), buildStep({ id: 'step-1', prompt: evil, status: 'completed' })],
      hookTasks: [buildHookTask({ hookId: evil, status: 'failed', error: evil })],
      humanNeeded: { reason: evil, details: evil, options: [evil], askedAt: 0 },
    })

    expect(sprintDetailLines(progress, io).map(stripControlSequences).filter(isUnsafe)).toEqual([])
  })
})
