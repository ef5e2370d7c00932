import { describe, expect, it } from 'vitest'
import { buildLive, buildProgress, buildStep, green, noon } from '../../test/support/builders.ts'
import { maxMessageBytes, type ReportBody, type RequestBody } from '../contract/fleet/machine-messages.ts'
import type { MachineFact } from '../contract/fleet/machine-work.ts'
import { noUsage } from '../contract/outcome.ts'
import type { Fact } from '../loop/core/fact.ts'
import { decodeReport, decodeRequest, encodeReport, encodeRequest } from './message.ts'

const id = '00000000-0000-4000-8000-000000000001'

/** The value as the other side receives it. */
const overTheLine = (wire: unknown): unknown => JSON.parse(JSON.stringify(wire))

/** One of each kind with every optional field. The comparison fails if the wire format drops a field. */
const facts: readonly SentFact<MachineFact['type']>[] = [
  {
    type: 'attempt-ended',
    at: noon,
    iteration: 1,
    attempt: 2,
    end: {
      kind: 'failed',
      class: 'usage_limit',
      reason: 'limit',
      retryable: true,
      resetsAt: noon + 1,
      question: { reason: 'which?', details: 'a or b', options: ['a', 'b'] },
      exitCode: 1,
      notStarted: true,
    },
    usage: noUsage,
    costUsd: 0.5,
    costEstimated: true,
    model: 'm',
    changed: true,
    walls: {
      cell: 'bubblewrap',
      network: 'allow-list',
      limits: ['processes 4096 (cgroup v1)'],
      hosts: { allowed: ['a.test:443'], refused: ['b.test:443'] },
    },
    random: 0.25,
  },
  {
    type: 'checks-ended',
    at: noon,
    iteration: 1,
    results: [{ ...green(), reason: 'because' }],
    checkFiles: [{ file: 'package.json', hash: 'x' }],
    tampered: ['package.json'],
    proofBaseline: { tree: 't', record: 'r', named: true },
    proof: {
      verdict: 'contested',
      room: 'clean',
      labels: ['weak proof'],
      tests: { fixed: ['a'], stillRed: [], added: [], missing: ['b'] },
      reasons: ['why'],
      prompt: 'p',
      named: true,
      changed: true,
      diff: 'd',
    },
  },
  { type: 'gate-ended', at: noon, iteration: 1, exitCode: null, output: 'o', error: 'e' },
  {
    type: 'review-ended',
    at: noon,
    iteration: 1,
    passed: true,
    summary: 's',
    unable: true,
    spent: { usage: noUsage, costUsd: 1, costEstimated: true, model: 'm' },
  },
  { type: 'checkpoint-made', at: noon, iteration: 1, commit: 'c' },
  {
    type: 'hook-ended',
    at: noon,
    iteration: 1,
    hookId: 'h',
    exitCode: 0,
    error: 'e',
    output: 'o',
    spent: { usage: noUsage, costUsd: 1, costEstimated: true, model: 'm' },
    walls: { cell: 'none', network: 'open', limits: [], hosts: {} },
  },
  { type: 'worktree-cleaned', at: noon, kept: 'k' },
]

type FactOf<T extends Fact['type']> = Extract<Fact, { type: T }>
/** A clock jump is what the process that decides has measured. */
type SentFact<T extends Fact['type']> = T extends unknown ? Required<Omit<FactOf<T>, 'clockJumpMs'>> : never

describe('a message', () => {
  it('carries a prompt with its whole progress over the line', () => {
    const progress = buildProgress({
      dynamicSteps: [buildStep()],
      live: [buildLive({ promptedAt: noon })],
      answer: { question: 'q', answer: 'a', at: noon },
    })
    const order = { type: 'run-attempt' as const, iteration: 1, attempt: 1 }
    const body: RequestBody<'prompt'> = {
      promptId: id,
      agentId: id,
      program: 'claude',
      leaseMs: 1000,
      asked: { kind: 'order', sprintId: id, protocol: 'notes', order, progress },
    }
    expect(decodeRequest('prompt', overTheLine(encodeRequest('prompt', body)))).toEqual(body)
  })

  it.each(facts)('carries every field of the fact $type over the line', (fact) => {
    const body: ReportBody<'order-ended'> = { orderId: 'o', agentId: id, endedAt: noon, fact }
    expect(decodeReport('order-ended', overTheLine(encodeReport('order-ended', body)))).toEqual(body)
  })

  it('that is malformed is refused without quoting it', () => {
    const secret = { agentId: 'a secret' }
    expect(() => decodeRequest('reset', secret)).toThrow(/^the message "reset" is malformed at agentId$/)
  })

  it('that is too long is not sent', () => {
    const body = { agentId: id, taskDescription: 'x'.repeat(maxMessageBytes) }
    expect(() => encodeRequest('ralph-mode-setup', body)).toThrow('longer than 16 MiB')
  })
})
