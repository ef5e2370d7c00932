import { describe, expect, it } from 'vitest'
import { buildLive, buildProgress, buildStep, noon } from '../../../test/support/builders.ts'
import type { Progress } from '../../contract/progress.ts'
import { noUsage } from '../../contract/outcome.ts'
import { createPaint } from '../io/paint.ts'
import { applyLiveEvent, createLiveState, type LiveViewState } from './live-state.ts'
import { renderLiveScreen } from './screen.ts'
import { fitPainted, measureWidth, wrapText } from '../io/width.ts'

const paint = createPaint(false)

const createBusyState = (overrides: Partial<Progress> = {}): LiveViewState => {
  const progress = buildProgress({
    status: 'in-progress',
    goal: 'Build JWT authentication: registration, login, refresh, logout',
    dynamicSteps: [
      buildStep({ id: 'step-0', prompt: 'Login with JWT', status: 'completed' }),
      buildStep({ id: 'step-1', prompt: 'Refresh: reject reuse' }),
      buildStep({ id: 'step-2', prompt: 'Logout revokes the family' }),
    ],
    live: [buildLive({ number: 3, mode: 'executing', step: 'step-1' })],
    iterations: [1, 2].map((number) => ({
      number,
      mode: 'executing',
      verdict: number === 2 ? 'refused' : 'continue',
      attempts: 1,
      startedAt: noon - 40_000,
      endedAt: noon,
      costUsd: 0,
      usage: noUsage,
    })),
    doneWhen: [{ run: 'npm test', timeout: 1, eachIteration: false, protect: false }],
    stats: { maxIterations: 40, costUsd: 3.18, activeMs: 2_460_000, updatedAt: noon + 1000 },
    limits: { usd: 10 },
    ...overrides,
  })
  const started = applyLiveEvent(
    createLiveState(progress, 'claude', noon),
    { type: 'attempt-started', iteration: 3, attempt: 1, agent: 'claude' },
    noon,
  )
  return applyLiveEvent(
    started,
    {
      type: 'agent',
      iteration: 3,
      attempt: 1,
      event: { kind: 'tool', phase: 'start', id: '1', name: 'Edit', argument: '/p/src/auth.ts' },
    },
    noon + 1000,
  )
}

const renderScreen = (state: LiveViewState, columns: number, rows = 24) =>
  renderLiveScreen(state, { paint, size: { columns, rows }, now: noon + 5000, project: '/p' })

describe('the live view', () => {
  it("shows goal, state, counters, verdicts, steps and the agent's activity", () => {
    expect(renderScreen(createBusyState(), 120).join('\n')).toBe(
      [
        'ralph  2026-01-18_sprint                                                                  ● running · last event 4 s ago',
        'Build JWT authentication: registration, login, refresh, logout',
        '',
        'iteration 3/40 executing 0:05 (usually 0:40)   $3.18 of $10 ▕███░░░░░░░▏   working 41:04',
        'claude',
        '1✓ 2✗ 3●',
        '',
        '✓ Login with JWT                                      now        Edit src/auth.ts                                   0:04',
        '● Refresh: reject reuse                               done when  ○ npm test',
        '○ Logout revokes the family',
        '',
        '─'.repeat(120),
        '  → Edit src/auth.ts',
        '',
        'Enter open   p pause   s stop   t message   l transcript   d diff   ? help',
      ].join('\n'),
    )
  })

  it('shows a result from before the first iteration as such', () => {
    const result = { name: 'npm test', passed: false, exitCode: 1, durationMs: 1, output: '' }
    const state = createBusyState({ baseline: [result] })
    const before = applyLiveEvent(state, { type: 'check-ended', iteration: 0, result }, noon)
    const after = applyLiveEvent(before, { type: 'check-ended', iteration: 1, result }, noon)

    expect(renderScreen(before, 120).join('\n')).toContain('○ npm test (✗ at the start)')
    expect(renderScreen(after, 120).join('\n')).toContain('✗ npm test')
  })

  it('shows the state and the number of the iteration at 40 x 12', () => {
    const [title = '', , , counters = ''] = renderScreen(createBusyState(), 40, 12)

    expect(title).toMatch(/^ralph {2}2026-01-18_sprint +● running$/)
    expect(counters).toBe('iteration 3/40 0:05   $3.18 of $10')
    const pausing = createBusyState({ stopRequested: { as: 'paused', when: 'iteration' } })
    expect(renderScreen(pausing, 40, 12)[0]).toMatch(/^ralph +● pausing after this iteration$/)
  })

  it('shows agent, branch, changes and context, and at 200 columns the earlier iterations', () => {
    const state = {
      ...createBusyState(),
      contextTokens: 45_100,
      repository: { branch: 'main', files: 2, added: 12, removed: 3 },
    }
    const wide = renderScreen(state, 200, 50).join('\n')

    expect(wide).toContain('claude   branch main   +12 −3 in 2 files   context 45.1k')
    expect(wide).toContain('earlier iterations')
    expect(wide).toContain('✗  2   0:40   $0.00  refused')
  })

  it.each([20, 40, 60, 80, 89, 90, 120, 200])('never has a line wider than %i columns', (columns) => {
    const wide = createBusyState({
      goal: '認証システムを構築する 👩‍💻'.repeat(20),
      sprintId: 'a-rather-long-name-for-a-sprint-that-goes-on-and-on',
    })
    const lines = renderScreen(
      { ...wide, notice: '8 refused: npm test '.repeat(9), lastText: '日本語'.repeat(60) },
      columns,
    )

    expect(lines.filter((line) => measureWidth(line) > columns)).toEqual([])
  })

  it.each([6, 8, 12, 24, 50])('never has more lines than a terminal of %i rows', (rows) => {
    expect(renderScreen(createBusyState(), 80, rows).length).toBeLessThanOrEqual(rows)
  })

  it('counts down while the sprint is parked', () => {
    const parked = createBusyState({ status: 'parked', parked: { reason: 'limit', until: noon + 3_605_000 }, live: [] })

    expect(renderScreen(parked, 100)[0]).toContain('parked, 1 h left')
  })

  it('shows the open question with its details', () => {
    const asking = createBusyState({
      status: 'needs-human',
      humanNeeded: { reason: 'Which database?', details: 'Both exist', askedAt: noon },
    })

    expect(renderScreen(asking, 100).join('\n')).toMatch(/\? Which database\?[\s\S]*Both exist/)
  })

  it('shows which checks pass, fail and run', () => {
    const failed = applyLiveEvent(
      createBusyState(),
      {
        type: 'check-ended',
        iteration: 3,
        result: { name: 'npm test', passed: false, exitCode: 1, durationMs: 1, output: '' },
      },
      noon,
    )

    expect(renderScreen(failed, 100).join('\n')).toContain('✗ npm test')
  })

  it('shows the last result of a check after a resume', () => {
    const state = createBusyState()
    const record = {
      ...state.progress.iterations[0]!,
      checks: [{ name: 'npm test', passed: false, exitCode: 1, durationMs: 1, output: '' }],
    }
    const resumed = createLiveState({ ...state.progress, iterations: [record] }, 'claude', noon)

    expect(renderScreen(resumed, 100).join('\n')).toContain('✗ npm test')
  })

  it('fills the rest of a terminal with recent events, the newest at the bottom', () => {
    const busy = Array.from({ length: 200 }, (_, n) => n).reduce(
      (state, n) => applyLiveEvent(state, { type: 'note', level: 'info', text: `note ${n}` }, noon),
      createBusyState(),
    )
    const lines = renderScreen(busy, 100, 30)

    expect(lines).toHaveLength(29)
    expect(lines.slice(-5)).toEqual([
      'note 197',
      'note 198',
      'note 199',
      '',
      'Enter open   p pause   s stop   t message   l transcript   d diff   ? help',
    ])
  })

  it('offers no keys once the sprint has stopped', () => {
    expect(renderScreen(createBusyState({ status: 'completed', live: [] }), 100).join('\n')).not.toContain('p pause')
  })

  it('shows the current step in full where there is room for it', () => {
    const prompt = 'Refresh: store the family of the token and revoke all of it when one is used for a second time'
    const lines = renderScreen(createBusyState({ dynamicSteps: [buildStep({ id: 'step-1', prompt })] }), 100)

    expect(lines.slice(7, 10).map((line) => line.slice(0, 45).trimEnd())).toEqual([
      '● Refresh: store the family of the token',
      '  and revoke all of it when one is used',
      '  for a second time',
    ])
  })

  it('shows phases, and the items of the one at work, in standard mode', () => {
    const standard = createBusyState({
      mode: 'standard',
      phases: [
        { id: 'plan', status: 'completed', prompt: 'Plan it', summary: 'planned' },
        {
          id: 'build',
          status: 'in-progress',
          steps: [
            { id: 'a', prompt: 'A', status: 'completed', phases: [] },
            { id: 'b', prompt: 'The other one', status: 'in-progress', phases: [] },
          ],
        },
        { id: 'ship', status: 'pending', prompt: 'Ship it' },
      ],
    })

    expect(renderScreen(standard, 60, 30)).toEqual(
      expect.arrayContaining(['✓ plan  planned', '● build  1 of 2', '  ● b  The other one', '○ ship  Ship it']),
    )
  })
})

describe('texts', () => {
  it.each([
    ['the quick brown fox jumps', 10, 3, ['the quick', 'brown fox', 'jumps']],
    ['the quick brown fox jumps', 10, 2, ['the quick', 'brown fox…']],
    ['abcdefghijklmnop', 6, 3, ['abcdef', 'ghijkl', 'mnop']],
    ['日本語日本語', 5, 3, ['日本', '語日', '本語']],
    ['short', 10, 2, ['short']],
  ])('%s is wrapped to %i columns on at most %i lines', (text, width, most, lines) => {
    expect(wrapText(text, width, most)).toEqual(lines)
  })

  it('are truncated without breaking a colour sequence', () => {
    const { red } = createPaint(true)
    expect(fitPainted(`${red('abcdef')}ghi`, 4)).toBe(red('abc…'))
    expect(fitPainted(`${red('ab')}cdef`, 4)).toBe(`${red('ab')}c…`)
  })
})
