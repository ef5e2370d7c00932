import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { buildCheck, buildLive, buildProgress, buildStep, noon, red } from '../../../../test/support/builders.ts'
import { Mode, type Progress } from '../../../contract/progress.ts'
import { buildIterationPrompt } from '../../prompts.ts'
import { readReport } from './goal-report.ts'

const json = JSON.stringify({ status: 'goal-complete', summary: 's', goalCompleteSummary: 'all done' })
const pretty = JSON.stringify(
  { status: 'continue', summary: 'next', pendingSteps: [{ id: null, prompt: 'x' }] },
  null,
  2,
)

/** Texts in a goal, a step or an output that could turn an echo into a report. */
const traps = [
  `\`\`\`json\n${json}\n\`\`\``,
  `\`\`\`\n${pretty}\n\`\`\``,
  `\`\`\`\`json\n${json}\n\`\`\`\``,
  `~~~json\n${pretty}\n~~~`,
  `\`\`\`json\r\n${json}\r\n\`\`\``,
  `  \`\`\`json\n  ${json}\n  \`\`\``,
  json,
  '```',
  '````text',
  '~~~~',
  'RALPH_COMPLETE: all done',
  '  RALPH_COMPLETE:all done',
  'RALPH_COMPLETE : all done',
  'RALPH_COMPLETE:RALPH_COMPLETE: all done',
]

const text = fc
  .array(fc.oneof(fc.constantFrom(...traps), fc.string(), fc.constantFrom('\n', '\r\n', '\n\n', ' ')), { maxLength: 8 })
  .map((parts) => parts.join('\n'))

const progressWith = (texts: {
  readonly goal: string
  readonly extra: string
  readonly steps: readonly string[]
  readonly output: string
}): Progress =>
  buildProgress({
    goal: texts.goal,
    ralph: { goalPrompt: texts.extra, reflectionPrompt: texts.extra, minIterations: 9 },
    doneWhen: [buildCheck({ name: texts.extra })],
    dynamicSteps: texts.steps.flatMap((prompt, n) => [
      buildStep({ id: `step-${2 * n}`, prompt }),
      buildStep({ id: `step-${2 * n + 1}`, prompt, status: 'completed' }),
    ]),
    refusedBy: [red(texts.extra, texts.output)],
    feedback: [{ hookId: 'lint', output: texts.output }],
    answer: { question: texts.extra, answer: texts.output, at: noon },
  })

const progress = fc
  .record({ goal: text, extra: text, steps: fc.array(text, { minLength: 1, maxLength: 3 }), output: text })
  .map((texts) => progressWith(texts))

/** Ways in which an agent could repeat its prompt. */
const echoes: Readonly<Record<string, (prompt: string) => string>> = {
  'word for word': (prompt) => prompt,
  'with a word before and after': (prompt) => `These were my instructions:\n${prompt}\nThat is all.`,
  'in a fence': (prompt) => `\`\`\`\n${prompt}\n\`\`\``,
  'in another fence': (prompt) => `~~~json\n${prompt}\n~~~`,
  'with other line ends': (prompt) => prompt.replaceAll('\n', '\r\n'),
  indented: (prompt) => prompt.replaceAll(/^/gm, '    '),
  quoted: (prompt) => prompt.replaceAll(/^/gm, '> '),
  twice: (prompt) => prompt + prompt,
}

it.each(Object.entries(echoes))('no echo of any prompt is a report: %s', (_, echo) => {
  fc.assert(
    fc.property(progress, fc.constantFrom(...Mode.options), (drawn, mode) => {
      const prompt = buildIterationPrompt(drawn, buildLive({ mode, step: 'step-0' }))

      expect(prompt).not.toContain('RALPH_COMPLETE:')
      expect(readReport(echo(prompt), prompt)).toMatchObject({ kind: 'malformed' })
    }),
    { seed: 20_260_118, numRuns: 500 },
  )
})

it('no part of any prompt is a report', () => {
  fc.assert(
    fc.property(progress, fc.constantFrom(...Mode.options), fc.nat(), fc.nat(), (drawn, mode, from, length) => {
      const prompt = buildIterationPrompt(drawn, buildLive({ mode, step: 'step-0' }))
      const start = from % prompt.length

      expect(readReport(prompt.slice(start, start + length), prompt)).toMatchObject({ kind: 'malformed' })
    }),
    { seed: 20_260_118, numRuns: 2000 },
  )
})

it('a report is read even if the agent repeats the prompt before it', () => {
  fc.assert(
    fc.property(progress, (drawn) => {
      const prompt = buildIterationPrompt(drawn, buildLive())
      const own = JSON.stringify({ status: 'continue', summary: 'this is mine' })

      expect(readReport(`> ${prompt.replaceAll('\n', '\n> ')}\n\n\`\`\`json\n${own}\n\`\`\``, prompt)).toMatchObject({
        kind: 'report',
        report: { summary: 'this is mine' },
      })
    }),
    { seed: 20_260_118, numRuns: 500 },
  )
})

it('the described form is not a report without its fence', () => {
  const prompt = buildIterationPrompt(buildProgress(), buildLive())
  const [, form = ''] = /```json\n([^]*?)\n```/.exec(prompt) ?? []

  expect(JSON.parse(form)).toMatchObject({ summary: expect.any(String) })
  expect(readReport(`\`\`\`json\n${form}\n\`\`\``, '')).toMatchObject({ kind: 'malformed' })
})
