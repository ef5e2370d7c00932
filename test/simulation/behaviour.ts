import { FailureClass, noUsage, type Outcome } from '../../src/contract/outcome.ts'
import type { ShellEnd } from '../../src/runtime/ports.ts'
import { createRandom, deriveSeed, type Random } from './random.ts'
import type { World } from './world.ts'

export type PlayedAttempt<T> = { readonly result: T; readonly ms: number; readonly changes: boolean }

const usage = { ...noUsage, inputTokens: 100, outputTokens: 10 }
const failures = FailureClass.options.filter((failure) => failure !== 'usage_limit')

/** What an agent does in an attempt of this name: deterministic for a seed. */
export function playAgent(world: World, name: string, agent: string): PlayedAttempt<Outcome> {
  const random = createRandom(deriveSeed(world.seed, `${agent} ${name}`))
  const ms = 1000 + random.below(60_000)
  if (name.includes('review')) return { result: reviewed(world.calm || random.chance(0.5)), ms, changes: false }
  const isPhase = world.journal.acknowledged().progress.mode === 'standard'
  if (world.calm)
    return {
      result: playReport(isPhase ? block({ status: 'completed', summary: 'ok' }) : claim('all is done')),
      ms,
      changes: true,
    }
  const dice = random.next()
  if (dice < 0.6)
    return {
      result: playReport(isPhase ? phaseReport(random) : playGoalReport(world, random)),
      ms,
      changes: random.chance(0.7),
    }
  if (dice < 0.68)
    return { result: { ...playReport('I have nothing to say.'), resumable: random.chance(0.5) }, ms, changes: false }
  if (dice < 0.76) return { result: limited(world, random), ms, changes: false }
  return { result: failed(random), ms, changes: random.chance(0.3) }
}

const playReport = (text: string): Outcome => ({
  status: 'ok',
  retryable: false,
  text,
  sessionId: 'session',
  usage,
  costUsd: 0.01,
  resumable: false,
  exitCode: 0,
})

const reviewed = (passes: boolean): Outcome =>
  playReport(block({ verdict: passes ? 'pass' : 'fail', summary: 'looked at it' }))

function limited({ timeline }: World, random: Random): Outcome {
  const resetsAt = timeline.now() + random.below(6 * 3_600_000)
  const known = random.chance(0.7) ? { resetsAt } : {}
  return { ...playReport(''), status: 'failed', class: 'usage_limit', reason: 'limit', retryable: true, ...known }
}

function failed(random: Random): Outcome {
  const failure = failures[random.below(failures.length)] ?? 'unknown'
  const priced = random.chance(0.8) ? {} : { costUsd: undefined }
  const { costUsd: _cost, ...rest } = playReport('')
  const base: Outcome = 'costUsd' in priced ? rest : playReport('')
  const status = failure === 'hang' ? 'timeout' : 'failed'
  return { ...base, status, class: failure, reason: `it was ${failure}`, retryable: random.chance(0.8), exitCode: 1 }
}

const block = (report: unknown): string => `Done.\n\n\`\`\`json\n${JSON.stringify(report)}\n\`\`\``
const claim = (summary: string): string => block({ status: 'goal-complete', summary, goalCompleteSummary: summary })

/** What it reports about a phase. */
function phaseReport(random: Random): string {
  const dice = random.next()
  if (dice < 0.7) return block({ status: 'completed', summary: 'ok' })
  if (dice < 0.9) return block({ status: 'failed', summary: 'tried', error: 'it did not work' })
  return block({ status: 'needs-human', summary: 'stuck', humanNeeded: { reason: 'which one?', details: '' } })
}

/** A report that may complete, reword, reorder and add steps, and sometimes names unknown ones. */
function playGoalReport({ journal }: World, random: Random): string {
  const { dynamicSteps } = journal.acknowledged().progress
  const pending = dynamicSteps.filter(({ status }) => status === 'pending')
  const completedStepIds = pending.filter(() => random.chance(0.4)).map(({ id }) => id)
  if (random.chance(0.1)) completedStepIds.push('step-999')
  const kept = pending
    .filter(({ id }) => !completedStepIds.includes(id) && random.chance(0.5))
    .map(({ id, prompt }) => ({ id, prompt: random.chance(0.2) ? `${prompt}!` : prompt }))
  const added = Array.from({ length: random.below(3) }, (_, n) => ({ id: null, prompt: `do ${n}` }))
  const report = {
    summary: 'worked',
    completedStepIds,
    pendingSteps: random.chance(0.5) ? [...kept, ...added] : [...added, ...kept],
  }
  const dice = random.next()
  if (dice < 0.2) return block({ ...report, status: 'goal-complete', goalCompleteSummary: 'it is done' })
  if (dice < 0.27)
    return block({ ...report, status: 'needs-human', humanNeeded: { reason: 'a key', details: 'which?' } })
  return block({ ...report, status: 'continue' })
}

/** The result of a check or a hook. */
export function playShell(world: World, name: string): PlayedAttempt<ShellEnd> {
  const random = createRandom(deriveSeed(world.seed, `shell ${name}`))
  const ms = random.below(20_000)
  const end = (exitCode: number | null, error?: string): ShellEnd => ({
    exitCode,
    output: `output of ${name}`,
    durationMs: ms,
    ...(error !== undefined && { error }),
  })
  if (world.calm || random.chance(0.6)) return { result: end(0), ms, changes: false }
  return { result: random.chance(0.8) ? end(1) : end(null, 'timed out'), ms, changes: false }
}
