import type { LiveIteration, Progress } from '../contract/progress.ts'
import type { AttemptEnd } from './core/fact.ts'
import { listMessagesSince } from './core/interrupted.ts'
import { buildMessagePrompt, buildRepairPrompt } from './core/session-prompts.ts'
import { setInbox } from './core/sprint.ts'
import type { AgentMessage, AttemptPrompt, PromptInput, PromptSources } from './core/way.ts'
import { fromProgress } from './progress-codec.ts'
import { getWay } from './ways/registry.ts'

/** Builds the request of the current attempt: the full prompt in a fresh context, or a short one in an earlier session. */
export function buildAttemptPrompt(
  progress: Progress,
  live: LiveIteration,
  { notesFolder, ...sources }: PromptSources = {},
): AttemptPrompt {
  const sprint = fromProgress(progress)
  const way = getWay(sprint)
  const form = way.reporting({ notesFolder })
  const { repair, interrupted } = live
  if (repair) {
    const { session, used, reason } = repair
    return { prompt: buildRepairPrompt(reason, form), session, used, form: way.reportSchema }
  }
  if (interrupted) {
    const unread = setInbox(sprint, { messages: listMessagesSince(sprint, live) })
    return { prompt: buildMessagePrompt(unread, form), session: interrupted.session, used: interrupted.used }
  }
  return { prompt: way.prompt(sprint, { ...live, notesFolder, ...sources }) }
}

/** Builds the prompt of an iteration, for a fresh context. */
export function buildIterationPrompt(progress: Progress, iteration: PromptInput): string {
  const sprint = fromProgress(progress)
  return getWay(sprint).prompt(sprint, iteration)
}

/** Reads the report of a turn that ended well. */
export function readAttemptReport(progress: Progress, message: AgentMessage, prompt: string): AttemptEnd {
  const sprint = fromProgress(progress)
  return getWay(sprint).read(message, prompt, sprint)
}
