import type { LiveIteration, Progress } from '../contract/progress.ts'
import type { AttemptEnd } from './core/fact.ts'
import { listMessagesSince } from './core/interrupted.ts'
import { buildMessagePrompt, buildRepairPrompt } from './core/session-prompts.ts'
import { setInbox, type Sprint } from './core/sprint.ts'
import type { AgentMessage, AttemptPrompt, PromptInput, PromptSources, PromptText } from './core/way.ts'
import { fromProgress } from './progress-codec.ts'
import { getWay } from './ways/registry.ts'

/** Builds the request of the current attempt, and the reader of its answer. */
export function buildAttemptPrompt(
  progress: Progress,
  live: LiveIteration,
  sources: PromptSources = {},
): AttemptPrompt {
  const sprint = fromProgress(progress)
  const sent = choosePrompt(sprint, live, sources)
  return {
    ...sent,
    read: (message) => {
      // A report that only repeats an example of the prompt does not count; an earlier session has seen the full prompt too.
      const seen = sent.session === undefined ? sent.prompt : `${sent.prompt}\n${buildIterationPrompt(progress, live)}`
      return getWay(sprint).read({ ...message, structuredOnly: sent.form !== undefined }, seen, sprint)
    },
  }
}

/** The full prompt in a fresh context, or a short one in an earlier session. */
function choosePrompt(sprint: Sprint, live: LiveIteration, { notesFolder, ...sources }: PromptSources): PromptText {
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
