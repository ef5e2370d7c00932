import type { Usage } from '../contract/outcome.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import { PhaseReport } from '../contract/report.ts'
import type { AttemptEnd } from './core/fact.ts'
import { listMessagesSince } from './core/interrupted.ts'
import { buildNotesPrompt, notesReporting } from './ways/notes/notes-prompt.ts'
import { buildPrompt, buildRepairPrompt, buildMessagePrompt, type PromptFor } from './ways/goal/goal-prompt.ts'
import { findReport, goalForm, type FinalMessage } from './core/read-report.ts'
import { type JsonSchema, phaseReportSchema, reportSchema } from './core/report-schema.ts'
import { buildPhasePrompt, formatPhaseReporting } from './ways/phases/phase-prompt.ts'

type IterationPromptInput = PromptFor &
  Pick<LiveIteration, 'work'> & {
    /** Only for the notes protocol. */
    readonly notesFolder?: string | undefined
  }

const unknownFolder = 'your notes folder'

/** What to send to the agent in one attempt. */
export type AttemptPrompt = {
  readonly prompt: string
  /** The session to resume, and its usage so far. */
  readonly session?: string
  readonly used?: Usage | undefined
  /** Accept only a report in this form. */
  readonly form?: JsonSchema
}

/** Builds the request of the current attempt: the full prompt in a fresh context, or a short one in an earlier session. */
export function buildAttemptPrompt(
  progress: Progress,
  live: LiveIteration,
  notes?: string,
  notesFolder?: string,
): AttemptPrompt {
  const { repair, interrupted } = live
  if (repair) {
    const form = progress.mode === 'standard' ? phaseReportSchema : reportSchema
    return { prompt: buildRepairPromptFor(progress, repair.reason), session: repair.session, used: repair.used, form }
  }
  if (interrupted) {
    return {
      prompt: buildMessagePromptFor(progress, { ...live, notesFolder }),
      session: interrupted.session,
      used: interrupted.used,
    }
  }
  return { prompt: buildIterationPrompt(progress, { ...live, notes, notesFolder }) }
}

/** Builds the prompt of an iteration, by protocol and mode of the sprint. */
export const buildIterationPrompt = (progress: Progress, iteration: IterationPromptInput): string =>
  progress.protocol === 'notes'
    ? buildNotesPrompt(progress, iteration.notesFolder ?? unknownFolder)
    : buildReportPrompt(progress, iteration)

const buildReportPrompt = (progress: Progress, iteration: IterationPromptInput): string =>
  progress.mode === 'standard' ? buildPhasePrompt(progress, iteration) : buildPrompt(progress, iteration)

export const buildRepairPromptFor = ({ mode }: Progress, reason: string): string =>
  mode === 'standard' ? buildRepairPrompt(reason, formatPhaseReporting()) : buildRepairPrompt(reason)

function buildMessagePromptFor(
  progress: Progress,
  live: LiveIteration & Pick<IterationPromptInput, 'notesFolder'>,
): string {
  const withMessages = { ...progress, messages: listMessagesSince(progress, live) }
  if (progress.protocol === 'notes')
    return buildMessagePrompt(withMessages, notesReporting(live.notesFolder ?? unknownFolder))
  return progress.mode === 'standard'
    ? buildMessagePrompt(withMessages, formatPhaseReporting())
    : buildMessagePrompt(withMessages)
}

/** Reads the report, by mode of the sprint. */
export function readAttemptReport({ mode }: Progress, message: FinalMessage, prompt: string): AttemptEnd {
  if (mode === 'ralph') return findReport(goalForm, message, prompt)
  const found = findReport({ schema: PhaseReport }, message, prompt)
  return found.kind === 'report' ? { kind: 'phase-report', report: found.report } : found
}
