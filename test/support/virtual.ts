import type { SprintEvent } from '../../src/contract/events.ts'
import { noUsage, type Outcome } from '../../src/contract/outcome.ts'
import type { Progress } from '../../src/contract/progress.ts'
import type { AgentRequest, Clock, Ports, ShellEnd, ShellRequest } from '../../src/runtime/ports.ts'
import { runSprint, type SprintRun } from '../../src/runtime/run-sprint.ts'
import { buildReport, noon, started } from './builders.ts'

/** A clock that stands still until the test advances it. */
export function createVirtualClock(now = noon) {
  const waiting = new Set<{ readonly at: number; readonly wake: () => void }>()
  const clock: Clock = {
    now: () => now,
    waitUntil: (at, signal) =>
      new Promise<void>((resolve) => {
        if (at <= now || signal.aborted) return resolve()
        const waiter = {
          at,
          wake: () => {
            waiting.delete(waiter)
            resolve()
          },
        }
        waiting.add(waiter)
        signal.addEventListener('abort', waiter.wake, { once: true })
      }),
  }
  /** Wakes every waiter at its own moment. */
  const pass = async (ms: number): Promise<void> => {
    const end = now + ms
    await settled()
    for (;;) {
      const [next] = [...waiting].toSorted((a, b) => a.at - b.at)
      if (!next || next.at > end) break
      now = next.at
      next.wake()
      await settled()
    }
    now = end
    await settled()
  }
  return {
    ...clock,
    pass,
    /** Waiters are dead and never wake. */
    kill: () => waiting.clear(),
  }
}

/** Resolves when everything that can happen without time passing has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise<void>((resolve) => setImmediate(resolve))
}

/** The outcome of an agent; by default success, with a report to continue. */
export const buildOutcome = (overrides: Partial<Outcome> = {}): Outcome => ({
  status: 'ok',
  retryable: false,
  text: `\`\`\`json\n${JSON.stringify(buildReport())}\n\`\`\``,
  usage: noUsage,
  costUsd: 0,
  resumable: false,
  ...overrides,
})

export type PlayResult = {
  /** By the number of the start. */
  readonly agent?: (start: number, request: AgentRequest, name: string) => Outcome | Promise<Outcome>
  readonly shell?: (request: ShellRequest) => Partial<ShellEnd> | Promise<Partial<ShellEnd>>
  readonly ports?: Partial<Ports>
  readonly clock?: ReturnType<typeof createVirtualClock>
}

/** A world without processes and files, and a record of what happened in it. */
export function createWorld({
  agent = () => buildOutcome(),
  shell = () => ({}),
  ports = {},
  clock = createVirtualClock(),
}: PlayResult) {
  const starts: { readonly at: number; readonly agent: string; readonly request: AgentRequest }[] = []
  const events: SprintEvent[] = []
  const saved: Progress[] = []
  const limits = new Map<string, number>()
  const world: Ports = {
    store: { save: async (progress) => void saved.push(progress) },
    agents: (name = 'claude') => ({
      name,
      transcriptPath: (transcript) => `/sprint/transcripts/${transcript}`,
      run: async (request) => {
        starts.push({ at: clock.now(), agent: name, request })
        return agent(starts.length, request, name)
      },
    }),
    shell: { run: async (request) => ({ exitCode: 0, output: '', durationMs: 0, ...(await shell(request)) }) },
    workspace: {
      start: async () => {},
      fingerprint: async () => String(starts.length),
      checkpoint: async () => undefined,
    },
    projectFiles: { isFile: () => false, hash: async () => '', store: async () => '', restore: async () => {} },
    cleanWorktree: async () => undefined,
    limits: {
      limitedUntil: async (name) => limits.get(name),
      record: async (name, until) => void limits.set(name, until),
    },
    notes: async () => undefined,
    hookSlots: (run) => run(),
    notify: async () => {},
    clock,
    random: () => 0,
    observe: (event) => void events.push(event),
    ...ports,
  }
  return {
    ports: world,
    clock,
    starts,
    events,
    /** The last saved progress: what a killed run leaves behind. */
    saved: () => saved.at(-1),
    run: (progress: Progress, options: Parameters<typeof started>[0] = {}): SprintRun =>
      runSprint(progress, world, started({ at: clock.now(), agents: ['claude'], ...options })),
  }
}
