import { describe, expect, it } from 'vitest'
import {
  buildCheck,
  buildLive,
  buildProgress,
  buildStep,
  noon,
  red,
  buildSteps,
} from '../../../../test/support/builders.ts'
import { unlimitedIterations, type Mode, type Progress } from '../../../contract/progress.ts'
import { buildRepairPrompt } from '../../core/session-prompts.ts'
import type { PromptInput } from '../../core/way.ts'
import { buildIterationPrompt } from '../../prompts.ts'
import { goalReporting } from './goal-prompt.ts'
import { readReport } from './goal-report.ts'

const prompt = (progress: Progress, iteration: Partial<PromptInput> = {}) =>
  buildIterationPrompt(progress, buildLive(iteration))

/** The text under a heading, up to the next one. */
function section(text: string, heading: string): string | undefined {
  const [, after] = text.split(`\n## ${heading}\n`)
  return after?.split('\n## ')[0]?.trim()
}

describe('every prompt', () => {
  it.each<[Mode, RegExp]>([
    ['planning', /Break the goal into concrete steps/],
    ['executing', /Do this one step/],
    ['reflecting', /decide:/],
  ])('contains the goal, the task (%s) and how to report', (mode, task) => {
    const text = prompt(
      buildProgress({ goal: '\n  Build login.\nAll tests pass.\n', dynamicSteps: buildSteps('alpha') }),
      {
        mode,
        step: 'step-0',
      },
    )

    expect(text).toMatch(new RegExp(`^# Ralph: ${mode}\n\nSprint 2026-01-18_sprint, iteration 1\\.`))
    expect(section(text, 'Goal')).toBe('Build login.\nAll tests pass.')
    expect(section(text, 'Your task')).toMatch(task)
    expect(section(text, 'Report')).toContain('exactly one fenced JSON block')
  })

  it.each([
    [7, 'iteration 3 of at most 7.'],
    [unlimitedIterations, 'iteration 3.'],
  ])('mentions the limit of iterations, if there is one (%i)', (maxIterations, sentence) => {
    expect(prompt(buildProgress({ stats: { maxIterations } }), { number: 3 })).toContain(sentence)
  })

  it('names the checks that will test a claim', () => {
    const doneWhen = [buildCheck({ name: 'unit tests', run: 'npm test' }), buildCheck({ run: 'tsc' })]

    expect(section(prompt(buildProgress({ doneWhen })), 'Rules')).toContain(
      'accepts it only if all pass:\n  - unit tests: `npm test`\n  - `tsc`',
    )
  })
})

describe('the planning prompt', () => {
  it('has the goal-prompt of the workflow', () => {
    expect(prompt(buildProgress({ ralph: { goalPrompt: 'Think in vertical slices.' } }))).toContain(
      'Think in vertical slices.',
    )
  })

  it('lists the completed steps', () => {
    const progress = buildProgress({ dynamicSteps: [buildStep({ prompt: 'alpha', status: 'completed' })] })

    expect(section(prompt(progress), 'Completed steps')).toBe('- step-0: alpha')
  })
})

describe('the executing prompt', () => {
  it('has the full text of the current step, and the other pending ones in one line each', () => {
    const dynamicSteps = buildSteps('alpha\n\n  - with a list\n', 'beta\n  in\r\n two lines', `${'x'.repeat(299)}yz`)
    const text = prompt(buildProgress({ dynamicSteps }), { mode: 'executing', step: 'step-0' })

    expect(section(text, 'Current step: step-0')).toBe('alpha\n\n  - with a list')
    expect(section(text, 'Other pending steps (for orientation, not for now)')).toBe(
      `- step-1: beta in two lines\n- step-2: ${'x'.repeat(299)}y…`,
    )
  })

  it('keeps hostile text of a step byte for byte', () => {
    const text = `a $(id) \`b\` \\ ' {{x}} $& $1 "quoted"`

    expect(prompt(buildProgress({ dynamicSteps: buildSteps(text) }), { mode: 'executing', step: 'step-0' })).toContain(
      text,
    )
  })

  it('stays small with 700 pending steps of 200 characters (C2)', () => {
    const dynamicSteps = buildSteps(...Array.from({ length: 700 }, () => 'x'.repeat(200)))
    const text = prompt(buildProgress({ dynamicSteps }), { mode: 'executing', step: 'step-0' })

    expect(text.length).toBeLessThan(20_000)
    expect(text).toContain('- (and 649 more)')
    expect(prompt(buildProgress({ dynamicSteps }), { mode: 'executing', step: 'step-600' })).toContain(
      '- (and 649 more)',
    )
    expect(prompt(buildProgress({ dynamicSteps }), { mode: 'reflecting' })).toContain('- (and 650 more)')
  })

  it('stays small with a thousand completed steps, and shows the last ones', () => {
    const done = Array.from({ length: 1000 }, (_, n) =>
      buildStep({ id: `step-${n + 500}`, status: 'completed', prompt: 'x'.repeat(5000) }),
    )
    const dynamicSteps = [...done, buildStep({ id: 'step-1500' })]
    const text = prompt(buildProgress({ dynamicSteps, stats: { completedSteps: 1500 } }), {
      mode: 'executing',
      step: 'step-1500',
    })

    expect(text.length).toBeLessThan(20_000)
    expect(section(text, 'Completed steps')).toMatch(/^- \(1480 earlier ones\)\n- step-1480: x+…\n/)
    expect(text).toContain('- step-1499: ')
  })

  it('is built quickly, whatever the steps are', () => {
    const blanks = `a${' '.repeat(200_000)}b`
    const began = performance.now()
    prompt(buildProgress({ dynamicSteps: buildSteps('alpha', blanks, blanks, blanks) }), {
      mode: 'executing',
      step: 'step-0',
    })

    expect(performance.now() - began).toBeLessThan(3000)
  })
})

describe('the reflecting prompt', () => {
  it('has the reflection-prompt of the workflow', () => {
    const progress = buildProgress({ ralph: { reflectionPrompt: 'Be your own harshest critic.' } })

    expect(prompt(progress, { mode: 'reflecting' })).toContain('Be your own harshest critic.')
  })

  it.each([
    [4, true],
    [5, false],
  ])('of iteration %i mentions if it is too early for goal-complete: %s', (number, early) => {
    const text = prompt(buildProgress({ ralph: { minIterations: 5 } }), { mode: 'reflecting', number })

    expect(text.includes('goal-complete is accepted from iteration 5 on.')).toBe(early)
  })
})

const refused = (output: string) =>
  section(prompt(buildProgress({ refusedBy: [red('unit tests', output)] })), 'Refused: unit tests')

describe('the output of a red check', () => {
  it('is quoted, with the reason', () => {
    expect(refused('1 failing\n')).toMatch(/\(exit code 1\)[^]*\n```text\n1 failing\n```$/)
  })

  it.each([
    ['```', '````'],
    ['`````', '``````'],
    ['x ```` y', '`````'],
    ['``', '```'],
  ])('cannot close its fence: %s is put between %s', (output, fence) => {
    expect(refused(`before\n${output}\nafter`)).toContain(`\n${fence}text\nbefore\n${output}\nafter\n${fence}`)
  })

  it('is cut at the start if it is long', () => {
    const refusal = refused(`${'early '.repeat(10_000)}the end`) ?? ''

    expect(refusal.length).toBeLessThan(9000)
    expect(refusal).toMatch(/```text\n….*the end\n```$/)
  })

  it('shares the space with the others', () => {
    const refusedBy = ['a', 'b', 'c', 'd'].map((name) => red(name, `${name} `.repeat(50_000)))

    expect(prompt(buildProgress({ refusedBy })).length).toBeLessThan(15_000)
  })
})

it('has the output of hooks that failed, quoted', () => {
  const text = prompt(buildProgress({ feedback: [{ hookId: 'lint', output: '``` no-unused-vars' }] }))

  expect(section(text, 'Hook lint failed')).toBe('````text\n``` no-unused-vars\n````')
})

it('has the answer of the user, with the question', () => {
  const text = prompt(buildProgress({ answer: { question: 'Which port?', answer: 'Port 8080.', at: noon } }))

  expect(section(text, 'A person answered')).toBe('Question: Which port?\n\nAnswer: Port 8080.')
})

it('has the learnings of earlier iterations, quoted and bounded', () => {
  const text = prompt(buildProgress(), { notes: `use pnpm\n${'x'.repeat(100_000)}` })

  expect(section(text, 'Learned in earlier iterations')).toMatch(/^```text\nuse pnpm\nx+…\n```$/)
  expect(text.length).toBeLessThan(20_000)
})

it('omits background if the prompt was too long for the agent', () => {
  const progress = buildProgress({
    dynamicSteps: [buildStep({ id: 'step-9', status: 'completed' }), ...buildSteps('alpha', 'beta')],
    refusedBy: [red('unit tests', 'x'.repeat(50_000))],
  })
  const text = prompt(progress, { mode: 'executing', step: 'step-0', smallPrompt: true, notes: 'use pnpm' })

  expect(section(text, 'Current step: step-0')).toBe('alpha')
  expect(text).not.toMatch(/Other pending steps|Completed steps|Learned in earlier/)
  expect(text.length).toBeLessThan(7000)
})

it('requests a missing report without containing a valid one', () => {
  const text = buildRepairPrompt('the last fenced block\nis not JSON', goalReporting)

  expect(text).toContain('no valid report: the last fenced block is not JSON.')
  expect(readReport(text, '')).toMatchObject({ kind: 'malformed' })
})
