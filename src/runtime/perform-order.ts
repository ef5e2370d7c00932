import { errorMessage } from '../contract/errors.ts'
import { noUsage } from '../contract/outcome.ts'
import type { Progress } from '../contract/progress.ts'
import type { Fact } from '../loop/core/fact.ts'
import type { OrderContext, OrderByType, RunnableOrder } from './context.ts'
import { runAttempt } from './run-attempt.ts'
import { runChecks } from './run-checks.ts'
import { runGate } from './run-gate.ts'
import { runHook } from './run-hook.ts'
import type { NotificationQuestion } from './channels/channel.ts'
import { parseTarget } from './channels/registry.ts'
import { retryOnDiskFull } from './disk-space.ts'
import { runReview } from './run-review.ts'

/** Executes one order and returns the resulting fact; undefined if it was aborted and must be ordered again. */
export async function performOrder(order: RunnableOrder, context: OrderContext): Promise<Fact | undefined> {
  const { ports, signal } = context
  if (order.type === 'wait') return waitUntilDue(order, context)
  if (order.type === 'notify') return sendNotifications(order, context)
  const execute = (): Promise<Fact | undefined> => {
    switch (order.type) {
      case 'run-attempt':
        return runAttempt(order, context)
      case 'run-checks':
        return runChecks(order, context)
      case 'run-gate':
        return runGate(order, context)
      case 'run-review':
        return runReview(order, context)
      case 'run-hook':
        return runHook(order, context)
      case 'make-checkpoint':
        return makeCheckpoint(order, context)
      case 'clean-worktree':
        return cleanWorktree(context)
    }
  }
  const done = await retryOnDiskFull(execute, ports, signal)
  return done && 'aborted' in done ? createAbortedAttempt(order, context) : done
}

/** An attempt that was aborted while it waited for disk space ended without a start. */
function createAbortedAttempt(order: RunnableOrder, { ports }: OrderContext): Fact | undefined {
  if (order.type !== 'run-attempt') return undefined
  const { iteration, attempt } = order
  const end = { kind: 'aborted' as const }
  const at = ports.clock.now()
  return { type: 'attempt-ended', at, iteration, attempt, end, usage: noUsage, costUsd: 0, random: ports.random() }
}

async function waitUntilDue(
  { iteration, until }: OrderByType<'wait'>,
  { ports, signal }: OrderContext,
): Promise<Fact | undefined> {
  await ports.clock.waitUntil(until, signal)
  return signal.aborted ? undefined : { type: 'wait-ended', at: ports.clock.now(), iteration }
}

/** A failed notification is recorded and never stops the sprint. */
async function sendNotifications(
  { about, text }: OrderByType<'notify'>,
  { progress, ports }: OrderContext,
): Promise<Fact> {
  const results = await Promise.all(
    (progress.notify ?? []).map(async (target) => {
      const { sprintId, humanNeeded } = progress
      const question = about === 'needs-human' && humanNeeded ? { question: omitAskedAt(humanNeeded) } : {}
      const error = await ports
        .notify(target, { about, text, sprintId, ...question })
        .then(() => undefined, errorMessage)
      const { address: to } = parseTarget(target)
      return { at: ports.clock.now(), to, about, sent: error === undefined, ...(error !== undefined && { error }) }
    }),
  )
  return { type: 'notified', at: ports.clock.now(), results }
}

const omitAskedAt = ({ askedAt: _at, ...question }: NonNullable<Progress['humanNeeded']>): NotificationQuestion =>
  question

/** A broken repository costs the checkpoint, not the sprint. */
async function makeCheckpoint({ iteration }: OrderByType<'make-checkpoint'>, context: OrderContext): Promise<Fact> {
  const { ports, progress } = context
  const made = await ports.workspace
    .checkpoint(iteration, formatCheckpointMessage(progress, iteration))
    .catch((error: unknown) => {
      const text = `no checkpoint of iteration ${iteration}: ${errorMessage(error)}`
      ports.observe({ type: 'note', level: 'warning', text })
      return undefined
    })
  return { type: 'checkpoint-made', at: ports.clock.now(), iteration, commit: made }
}

async function cleanWorktree({ ports }: OrderContext): Promise<Fact> {
  const kept = await ports.cleanWorktree().catch(errorMessage)
  return { type: 'worktree-cleaned', at: ports.clock.now(), kept }
}

function formatCheckpointMessage(progress: Progress, iteration: number): string {
  const live = progress.live.find(({ number }) => number === iteration)
  const step = live?.step === undefined ? '' : ` ${live.step}`
  return `Ralph ${progress.sprintId}: iteration ${iteration}${step}\n\n${live?.summary ?? ''}\n`
}
