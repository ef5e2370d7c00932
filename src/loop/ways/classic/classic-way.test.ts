import { describe, expect, it } from 'vitest'
import { buildLive, buildProgress, buildStep, buildSteps, noon } from '../../../../test/support/builders.ts'
import { Mode, type Progress } from '../../../contract/progress.ts'
import { advance } from '../../advance.ts'
import { buildAttemptPrompt, buildIterationPrompt, readAttemptReport } from '../../prompts.ts'

const classic = (overrides: Parameters<typeof buildProgress>[0] = {}): Progress =>
  buildProgress({ protocol: 'classic', goal: 'Build authentication\n', ...overrides })

const progressFile = '/p/.claude/sprints/s/PROGRESS.yaml'
const prompt = (progress: Progress, live: Parameters<typeof buildLive>[0] = {}) =>
  buildIterationPrompt(progress, { ...buildLive(live), progressFile })

describe('the prompts of 000:297-363, word for word', () => {
  it('planning (rows 50-53, 210, 211)', () => {
    const startedAt = Date.parse('2026-01-18T10:00:00Z')
    expect(prompt(classic(), { mode: 'planning', number: 1, startedAt })).toBe(`# Ralph Mode: Goal Analysis

## Your Goal
Build authentication

## Instructions
1. Analyze the goal and break it into concrete steps
2. Add steps to PROGRESS.yaml:
   \`\`\`bash
   yq -i '.dynamic-steps += [{"id": "step-N", "prompt": "...", "status": "pending", "added-at": "2026-01-18T10:00:00Z", "added-in-iteration": 1}]' "${progressFile}"
   \`\`\`
3. Then execute the first pending step

## Completion
When goal is FULLY achieved: RALPH_COMPLETE: [summary]
`)
  })

  it('executing (row 55)', () => {
    const progress = classic({ dynamicSteps: buildSteps('Write the module') })
    expect(prompt(progress, { mode: 'executing', step: 'step-0' })).toBe(`# Ralph Mode: Execute Step

## Goal (context)
Build authentication

## Current Task: step-0
Write the module

## Instructions
1. Execute this task
2. Mark complete:
   \`\`\`bash
   yq -i '(.dynamic-steps[] | select(.id == "step-0")).status = "completed"' "${progressFile}"
   \`\`\`
3. Optionally add new steps if needed
4. EXIT after this task

## Completion
If this completes the entire goal: RALPH_COMPLETE: [summary]
`)
  })

  it('reflecting (rows 57-59)', () => {
    const progress = classic({ dynamicSteps: [buildStep({ status: 'completed' })], stats: { completedSteps: 1 } })
    expect(prompt(progress, { mode: 'reflecting' })).toBe(`# Ralph Mode: Reflection Required

## Goal
Build authentication

## Completed: 1 steps
No pending steps remain.

## Choose:
A) Goal achieved → RALPH_COMPLETE: [detailed summary]
B) More work needed → add new steps
C) Blocked → yq -i '.status = "needs-human"' "${progressFile}"
`)
  })

  it('add what the agent cannot find in PROGRESS.yaml', () => {
    const progress = classic({
      ralph: { goalPrompt: 'Plan well.' },
      messages: [{ text: 'hurry', at: noon }],
      answer: { question: 'Which?', answer: 'the blue one', at: noon },
    })
    for (const text of ['Plan well.', 'hurry', 'the blue one'])
      expect(prompt(progress, { mode: 'planning' })).toContain(text)
  })
})

describe('the end of a turn', () => {
  const read = (text: string) => readAttemptReport(classic(), { text }, prompt(classic()))

  it('without a report is a good one (row 63)', () => {
    expect(read(' I added two steps. ')).toEqual({
      kind: 'report',
      report: { status: 'continue', summary: 'I added two steps.', completedStepIds: [], pendingSteps: [] },
    })
    expect(read('')).toMatchObject({ kind: 'report', report: { status: 'continue' } })
  })

  it('with RALPH_COMPLETE is a claim', () => {
    expect(read('All done.\n\n**RALPH_COMPLETE:** it works')).toMatchObject({
      report: { status: 'goal-complete', goalCompleteSummary: 'it works' },
    })
  })

  it('may still be a JSON report', () => {
    expect(read('```json\n{"status":"continue","summary":"s"}\n```')).toMatchObject({ report: { summary: 's' } })
  })

  it.each(Mode.options)('is no claim if it repeats the prompt: %s', (mode) => {
    const planned = prompt(classic({ dynamicSteps: buildSteps('RALPH_COMPLETE: all of it') }), { mode, step: 'step-0' })
    for (const echo of [planned, planned.replaceAll(/^/gm, '> '), `\`\`\`\n${planned}\n\`\`\``, planned + planned])
      expect(readAttemptReport(classic(), { text: echo }, planned)).toMatchObject({ report: { status: 'continue' } })
  })

  it('after a message of a user explains the protocol again', () => {
    const live = buildLive({ interrupted: { session: 'x', promptedAt: noon - 1 } })
    const progress = classic({ messages: [{ text: 'hurry', at: noon }] })
    expect(buildAttemptPrompt(progress, live).prompt).toMatch(/hurry[^]*Edit PROGRESS\.yaml as before/)
  })
})

it('steps edited in PROGRESS.yaml are progress of the iteration (row 62)', () => {
  const running = advance(classic({ status: 'not-started', live: [] }), { type: 'started', at: noon }).progress
  const edited = advance(running, {
    type: 'edited',
    at: noon + 1,
    edits: [{ kind: 'step-added', prompt: 'a step' }],
    refused: [],
  }).progress

  expect(running.live).toMatchObject([{ number: expect.any(Number) }])
  expect(edited.live).toMatchObject([{ stepsChanged: true }])
})
