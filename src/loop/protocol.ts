import type { Usage } from '../contract/outcome.ts'
import type { LiveIteration, Progress } from '../contract/progress.ts'
import { PhaseReport } from '../contract/report.ts'
import type { AttemptEnd } from './fact.ts'
import { saidSince } from './interrupted.ts'
import { buildNotesPrompt, notesReporting } from './notes-prompt.ts'
import { buildPrompt, buildRepairPrompt, buildTellPrompt, type PromptFor } from './prompt.ts'
import { findReport, goalForm, type Said } from './read-report.ts'
import { type JsonSchema, phaseReportForm, reportForm } from './report-form.ts'
import { buildPhasePrompt, phaseReporting } from './standard/prompt.ts'

type Asked = PromptFor &
  Pick<LiveIteration, 'work'> & {
    /** Only for the notes protocol. */
    readonly notesFolder?: string | undefined
  }

const unknownFolder = 'your notes folder'

/** What to send to the agent in one attempt. */
export type Asking = {
  readonly prompt: string
  /** The session to resume, and its usage so far. */
  readonly session?: string
  readonly used?: Usage | undefined
  /** Accept only a report in this form. */
  readonly form?: JsonSchema
}

/** Builds the request of the current attempt: the full prompt in a fresh context, or a short one in an earlier session. */
export function askingOf(progress: Progress, live: LiveIteration, notes?: string, notesFolder?: string): Asking {
  const { repair, interrupted } = live
  if (repair) {
    const form = progress.mode === 'standard' ? phaseReportForm : reportForm
    return { prompt: repairPromptFor(progress, repair.reason), session: repair.session, used: repair.used, form }
  }
  if (interrupted) {
    return {
      prompt: tellPromptFor(progress, { ...live, notesFolder }),
      session: interrupted.session,
      used: interrupted.used,
    }
  }
  return { prompt: promptFor(progress, { ...live, notes, notesFolder }) }
}

/** Builds the prompt of an iteration, by protocol and mode of the sprint. */
export const promptFor = (progress: Progress, iteration: Asked): string =>
  progress.protocol === 'notes'
    ? buildNotesPrompt(progress, iteration.notesFolder ?? unknownFolder)
    : byReport(progress, iteration)

const byReport = (progress: Progress, iteration: Asked): string =>
  progress.mode === 'standard' ? buildPhasePrompt(progress, iteration) : buildPrompt(progress, iteration)

export const repairPromptFor = ({ mode }: Progress, reason: string): string =>
  mode === 'standard' ? buildRepairPrompt(reason, phaseReporting()) : buildRepairPrompt(reason)

function tellPromptFor(progress: Progress, live: LiveIteration & Pick<Asked, 'notesFolder'>): string {
  const told = { ...progress, messages: saidSince(progress, live) }
  if (progress.protocol === 'notes') return buildTellPrompt(told, notesReporting(live.notesFolder ?? unknownFolder))
  return progress.mode === 'standard' ? buildTellPrompt(told, phaseReporting()) : buildTellPrompt(told)
}

/** Reads the report, by mode of the sprint. */
export function reportIn({ mode }: Progress, said: Said, prompt: string): AttemptEnd {
  if (mode === 'ralph') return findReport(goalForm, said, prompt)
  const found = findReport({ schema: PhaseReport }, said, prompt)
  return found.kind === 'report' ? { kind: 'phase-report', report: found.report } : found
}
