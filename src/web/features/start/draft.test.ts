import { describe, expect, it } from 'vitest'
import {
  draftChecks,
  Draft,
  emptyDraft,
  describeEstimate,
  draftLimits,
  newAgent,
  validateDraft,
  describeStart,
  describeStartLimits,
} from './draft.ts'

const createDraft = (overrides: Partial<Draft> = {}): Draft => ({ ...emptyDraft, ...overrides })
const detected = [
  { name: 'npm test', run: 'npm test' },
  { name: 'tsc', run: 'npx tsc' },
]

describe('a draft', () => {
  it('needs only a task and an agent', () => {
    expect([validateDraft(createDraft()), validateDraft(createDraft({ task: 'x', agentId: 'a' }))]).toEqual([
      { task: 'Describe the task', agentId: 'Choose an agent' },
      {},
    ])
  })

  it('needs a place for a new agent, and valid numbers', () => {
    const wrong = createDraft({
      task: 'x',
      agentId: newAgent,
      name: 'web',
      path: '/srv',
      iterations: '2.5',
      usd: '-1',
      hours: 'soon',
    })
    expect(validateDraft(wrong)).toEqual({
      branch: 'Enter a branch',
      iterations: 'Enter a whole number, or leave it empty',
      usd: 'Enter a number above 0, or leave it empty',
      hours: 'Enter a number above 0, or leave it empty',
    })
  })

  it('treats an empty field as no limit', () => {
    expect(draftLimits(createDraft({ iterations: '', usd: ' ', hours: '1.5' }))).toEqual({
      iterations: undefined,
      usd: undefined,
      durationMs: 5_400_000,
      noProgress: 5,
    })
  })

  it("uses detected checks that are enabled, then the user's own", () => {
    expect(draftChecks(createDraft({ skipped: ['npx tsc'], checks: [' ', ' make e2e '] }), detected)).toEqual([
      { name: 'npm test', run: 'npm test' },
      { run: 'make e2e' },
    ])
  })

  it('leaves detection to the machine when nothing is known', () => {
    expect(draftChecks(createDraft(), undefined)).toBeUndefined()
  })

  it('survives any stored content', () => {
    expect(Draft.parse({ task: 'kept' })).toEqual(createDraft({ task: 'kept' }))
  })
})

it('describes the effect on the button', () => {
  const place = 'on vm-1 in /srv/app, branch main'
  expect([
    describeStart(createDraft(), false, place),
    describeStart(createDraft(), false, undefined),
    describeStart(createDraft(), true, place),
    describeStart(createDraft({ ifBusy: 'interrupt' }), true, place),
    describeStartLimits(createDraft()),
    describeStartLimits(createDraft({ iterations: '1', usd: '' })),
  ]).toEqual([
    'Start on vm-1 in /srv/app, branch main',
    'Start',
    'Queue on vm-1 in /srv/app, branch main',
    'Interrupt and start on vm-1 in /srv/app, branch main',
    'up to 40 iterations, $10 cap',
    'up to 1 iteration, no cap',
  ])
})

it('estimates from history, and gives no estimate without one', () => {
  const history = { iterations: 38, medianMs: 372_000, medianUsd: 0.42 }
  expect([describeEstimate(history, createDraft()), describeEstimate({ iterations: 0 }, createDraft())]).toEqual([
    'Median of 38 iterations here: 6 m 12 s, $0.42; 40 of them: about $16.80 and 4 h 8 min',
    undefined,
  ])
})
