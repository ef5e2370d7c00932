import type { StoredEvent } from '../../src/contract/fleet/event.ts'
import type { SprintEvent } from '../../src/contract/events.ts'
import type { FleetSprint } from '../../src/contract/fleet/sprint.ts'
import type { IterationRecord } from '../../src/contract/progress.ts'
import { type EventSource, listed } from './fake-fleet.ts'

const minute = 60_000

type TimedEvent = readonly [seconds: number, event: SprintEvent]

/** Iterations 8 and 9 in full, the earlier ones in short. */
export function authEvents(sprint: FleetSprint, iterations: readonly IterationRecord[]): EventSource {
  const before: TimedEvent[] = iterations.slice(0, 7).flatMap((record): TimedEvent[] => [
    [toSeconds(record.startedAt), { type: 'iteration-started', iteration: record.number, mode: record.mode }],
    [
      toSeconds(record.startedAt) + 1,
      { type: 'attempt-started', iteration: record.number, attempt: 1, agent: 'claude' },
    ],
    [toSeconds(record.startedAt) + 40, say(record.number, record.summary ?? '')],
    [
      toSeconds(record.endedAt),
      {
        type: 'iteration-ended',
        iteration: record.number,
        verdict: record.verdict,
        durationMs: record.endedAt - record.startedAt,
        costUsd: record.costUsd,
      },
    ],
  ])
  const eighth = toSeconds(iterations[7]?.startedAt ?? 0)
  const ninth = toSeconds(Date.now() - 3 * minute)
  const texts = [
    ...before,
    ...eight.map(([seconds, event]): TimedEvent => [eighth + seconds, event]),
    ...nine.map(([seconds, event]): TimedEvent => [ninth + seconds, event]),
  ]
  return listed(
    texts.map(([seconds, event], seq): StoredEvent => ({
      id: String(seq + 1000),
      agentId: sprint.agentId,
      sprintId: sprint.id,
      seq,
      at: seconds * 1000,
      event,
    })),
  )
}

const toSeconds = (ms: number): number => Math.round(ms / 1000)
const say = (iteration: number, text: string): SprintEvent => agent(iteration, { kind: 'text', text })
const agent = (iteration: number, event: Extract<SprintEvent, { type: 'agent' }>['event']): SprintEvent => ({
  type: 'agent',
  iteration,
  attempt: 1,
  event,
})

function tool(
  iteration: number,
  from: number,
  seconds: number,
  {
    id,
    name,
    input,
    output,
    ok: passed = true,
  }: { id: string; name: string; input: Record<string, string>; output: string; ok?: boolean },
): TimedEvent[] {
  const argument = input['file_path'] ?? input['command'] ?? input['pattern'] ?? ''
  return [
    [from, agent(iteration, { kind: 'tool', phase: 'start', id, name, argument, input })],
    [from + seconds, agent(iteration, { kind: 'tool', phase: 'end', id, name, ok: passed, output })],
  ]
}

const edit = {
  id: 'edit-1',
  name: 'Edit',
  input: {
    file_path: 'src/auth/refresh.ts',
    old_string:
      '  const row = await store.find(token.id)\n  if (!row) throw new Unauthorized()\n  return issue(row.userId, token.family)',
    new_string:
      "  const row = await store.find(token.id)\n  if (!row || row.usedAt) {\n    await store.revokeFamily(token.family)\n    throw new Unauthorized('token reuse')\n  }\n  return issue(row.userId, token.family)",
  },
  output: 'The file src/auth/refresh.ts has been updated.',
}

const eight: readonly TimedEvent[] = [
  [
    0,
    {
      type: 'iteration-started',
      iteration: 8,
      mode: 'executing',
      step: 'step-5',
      stepPrompt: 'Refresh rotation: reject reused tokens',
    },
  ],
  [1, { type: 'attempt-started', iteration: 8, attempt: 1, agent: 'claude' }],
  [1, agent(8, { kind: 'session', id: 's-8', model: 'opus', version: '2.9.4' })],
  [2, say(8, 'The refresh endpoint accepts a token **twice**. I will store the token family and revoke it on reuse.')],
  ...['refresh', 'store', 'issue', 'errors', 'routes'].flatMap((name, n) =>
    tool(8, 31 + n, 1, {
      id: `read-${n}`,
      name: 'Read',
      input: { file_path: `src/auth/${name}.ts` },
      output: `     1\texport const ${name} = …`,
    }),
  ),
  ...tool(8, 72, 3, edit),
  ...tool(8, 119, 41, {
    id: 'bash-1',
    name: 'Bash',
    input: { command: 'npm test -- refresh' },
    output: ' ✓ test/refresh.test.ts (9 tests) 412ms\n\n Test Files  1 passed (1)\n      Tests  9 passed (9)',
  }),
  ...tool(8, 200, 96, {
    id: 'bash-2',
    name: 'Bash',
    input: { command: 'npx tsc --noEmit && npx oxlint' },
    output: 'Found 0 warnings and 0 errors.',
  }),
  [
    350,
    say(
      8,
      'All criteria are met; the sprint is complete.\n\n- refresh tokens rotate\n- a reused token revokes its family\n- `test/refresh.test.ts` covers both',
    ),
  ],
  [351, { type: 'claim-made', iteration: 8, summary: 'Refresh rotation works; all endpoints are there.' }],
  [352, { type: 'check-started', iteration: 8, name: 'npm test' }],
  [
    372,
    {
      type: 'check-ended',
      iteration: 8,
      result: {
        name: 'npm test',
        passed: false,
        exitCode: 1,
        durationMs: 22_000,
        output:
          ' FAIL  test/logout.test.ts > logout revokes the family\nAssertionError: expected 200 to be 401\n\n Tests  2 failed | 61 passed (63)',
      },
    },
  ],
  [
    373,
    {
      type: 'check-ended',
      iteration: 8,
      result: { name: 'tsc', passed: true, exitCode: 0, durationMs: 9000, output: '' },
    },
  ],
  [374, { type: 'claim-refused', iteration: 8, by: ['npm test'], reason: '2 failed: logout revokes the family' }],
  [376, { type: 'hook-ended', iteration: 8, hook: 'learning', ok: true, exitCode: 0 }],
  [
    380,
    {
      type: 'iteration-ended',
      iteration: 8,
      verdict: 'refused',
      durationMs: 372_000,
      costUsd: 0.41,
      summary: 'Refresh rotation; claimed goal-complete',
    },
  ],
]

const nine: readonly TimedEvent[] = [
  [
    0,
    {
      type: 'iteration-started',
      iteration: 9,
      mode: 'executing',
      step: 'step-5',
      stepPrompt: 'Refresh rotation: reject reused tokens',
    },
  ],
  [1, { type: 'attempt-started', iteration: 9, attempt: 1, agent: 'claude' }],
  [4, say(9, 'Two tests are red: `logout` does not revoke the family. The store has no method for it yet.')],
  ...tool(9, 20, 2, {
    id: 'grep-1',
    name: 'Grep',
    input: { pattern: 'revokeFamily' },
    output: 'src/auth/refresh.ts:12',
  }),
  [
    100,
    agent(9, {
      kind: 'tool',
      phase: 'start',
      id: 'bash-9',
      name: 'Bash',
      argument: 'npm test -- logout',
      input: { command: 'npm test -- logout' },
    }),
  ],
]

/** A transcript of any length, generated on demand. */
export const longTranscript = (sprint: FleetSprint, count: number): EventSource => ({
  count,
  at: (seq) => ({
    id: String(seq),
    agentId: sprint.agentId,
    sprintId: sprint.id,
    seq,
    at: 1_760_000_000_000 + seq * 700,
    event: longEvent(seq),
  }),
})

function longEvent(seq: number): SprintEvent {
  const iteration = 9
  const call = Math.floor(seq / 2)
  if (seq % 40 < 4)
    return say(iteration, `Thought number ${seq}. ${'The next thing to look at is the store. '.repeat(seq % 7)}`)
  const name = call % 3 === 0 ? 'Bash' : 'Read'
  const argument = name === 'Bash' ? `npm test -- part-${call}` : `src/part-${call}.ts`
  const common = { kind: 'tool', id: `call-${call}`, name } as const
  return seq % 2 === 0
    ? agent(iteration, { ...common, phase: 'start', argument, input: { argument } })
    : agent(iteration, { ...common, phase: 'end', ok: call % 11 !== 0, output: `line of output ${seq}\n`.repeat(12) })
}
