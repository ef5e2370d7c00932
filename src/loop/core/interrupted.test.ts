import { describe, expect, it } from 'vitest'
import {
  after,
  buildProgress,
  attemptEnded,
  fails,
  hookEnds,
  buildHook,
  noon,
  reports,
  started,
  waitEnds,
  type Play,
} from '../../../test/support/builders.ts'
import { noUsage } from '../../contract/outcome.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Fact } from './fact.ts'
import { buildAttemptPrompt } from '../prompts.ts'

const says = (text: string, at: number, now = false): Fact => ({ type: 'told', at, text, now })
const stopsNow: Fact = { type: 'stop-requested', at: noon + 10, as: 'interrupted', when: 'now' }
const used = { ...noUsage, inputTokens: 100 }
const abortedIn = (session: string | undefined, at = noon + 20): Play =>
  attemptEnded({ kind: 'aborted', session }, { at, usage: used })
const running = after(buildProgress(), started({ agents: ['claude'] })).progress

const readPrompt = (progress: Progress) => {
  const [live] = progress.live
  if (!live) throw new Error('nothing is live')
  const { read: _read, ...sent } = buildAttemptPrompt(progress, live)
  return sent
}

describe('an agent that was interrupted for a message', () => {
  it('resumes its session and gets only what is new', () => {
    const { progress, orders } = after(
      after(buildProgress(), says('mind the tests', noon - 5), started()).progress,
      says('use argon2', noon + 5, true),
      abortedIn('s-1'),
    )

    expect(orders).toEqual([{ type: 'run-attempt', iteration: 1, attempt: 2 }])
    const asking = readPrompt(progress)
    expect(asking).toMatchObject({ session: 's-1', used })
    expect(asking).not.toHaveProperty('form')
    expect(asking.prompt).toMatch(/^You were interrupted.*## A person says\n\nuse argon2\n.*## Report/s)
    expect(asking.prompt).not.toMatch(/mind the tests|# Ralph: planning/)
  })

  it('gets the full prompt if there is no session to resume', () => {
    const { progress } = after(running, says('use argon2', noon + 5, true), abortedIn(undefined))

    expect(readPrompt(progress)).toEqual({ prompt: expect.stringMatching(/# Ralph: planning.*use argon2/s) })
  })

  it('gets unread messages again if it is interrupted once more, and its usage counts once', () => {
    const { progress } = after(
      running,
      says('use argon2', noon + 5, true),
      abortedIn('s-1'),
      says('and salt', noon + 30, true),
      abortedIn('s-1', noon + 40),
    )

    expect(readPrompt(progress)).toMatchObject({ session: 's-1', used: { inputTokens: 200 } })
    expect(readPrompt(progress).prompt).toContain('use argon2\n\nand salt')
  })

  it('is asked for a missing report in the same session as usual', () => {
    const { progress } = after(
      running,
      says('use argon2', noon + 5, true),
      abortedIn('s-1'),
      attemptEnded({ kind: 'malformed', reason: 'no report', session: 's-1' }, { usage: used }),
    )

    expect(readPrompt(progress)).toMatchObject({ session: 's-1', form: { type: 'object' } })
    expect(readPrompt(progress).prompt).toContain('had no valid report')
  })

  it('gets the full prompt after the attempt in its session has failed', () => {
    const { progress } = after(
      running,
      says('use argon2', noon + 5, true),
      abortedIn('s-1'),
      fails({ reason: 'No conversation found' }, noon + 30),
      waitEnds(noon + 40),
    )

    expect(readPrompt(progress)).toEqual({ prompt: expect.stringMatching(/# Ralph: planning.*use argon2/s) })
  })

  it('has received the message once it reports', () => {
    const { progress } = after(running, says('use argon2', noon + 5, true), abortedIn('s-1'), reports({}, noon + 50))

    expect(progress).not.toHaveProperty('messages')
    expect(progress.live).toMatchObject([{ number: 2, attempt: 1 }])
    expect(progress.live[0]).not.toHaveProperty('interrupted')
  })

  it('gets the output of a hook that failed since then', () => {
    const hook = buildHook({ parallel: true, onFail: 'feed-back' })
    const { progress } = after(
      buildProgress({ perIterationHooks: [hook] }),
      started(),
      reports({}, noon),
      hookEnds('lint', { exitCode: 1, output: '3 problems', at: noon + 5 }),
      says('use argon2', noon + 6, true),
      abortedIn('s-1'),
    )

    expect(readPrompt(progress).prompt).toMatch(/use argon2.*Hook lint failed.*3 problems/s)
  })
})

describe('an agent that was stopped', () => {
  const stopped = after(running, stopsNow, abortedIn('s-1')).progress
  const again = [started({ at: noon + 100, agents: ['claude'] }), waitEnds(noon + 100)]

  it('resumes its session in the next run if a user has sent a message since', () => {
    const { progress } = after(stopped, says('use argon2', noon + 50), ...again)

    expect(readPrompt(progress)).toMatchObject({ session: 's-1', prompt: expect.stringContaining('use argon2') })
  })

  it('starts with a fresh context otherwise, even if a message arrives while it works', () => {
    const { progress } = after(stopped, ...again, says('use argon2', noon + 150))

    expect(readPrompt(progress)).toEqual({ prompt: expect.stringContaining('# Ralph: planning') })
  })

  it('does not resume the session of another agent', () => {
    const codex = started({ at: noon + 100, agents: ['codex'] })
    const { progress } = after(stopped, says('use argon2', noon + 50), codex, waitEnds(noon + 100))

    expect(progress.live).toMatchObject([{ agent: 'codex' }])
    expect(readPrompt(progress)).toEqual({ prompt: expect.stringMatching(/# Ralph: planning.*use argon2/s) })
  })
})
