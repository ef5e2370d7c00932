import type { LiveIteration, Progress } from '../contract/progress.ts'
import { PhaseReport } from '../contract/report.ts'
import type { AttemptEnd } from './fact.ts'
import { buildPrompt, buildRepairPrompt, type PromptFor } from './prompt.ts'
import { findReport, readReport, type Said } from './read-report.ts'
import { buildPhasePrompt, phaseReporting } from './standard/prompt.ts'

type Asked = PromptFor & Pick<LiveIteration, 'work'>

/** How the prompt of an iteration is made, by the mode of the sprint. */
export const promptFor = (progress: Progress, iteration: Asked): string =>
  progress.mode === 'standard' ? buildPhasePrompt(progress, iteration) : buildPrompt(progress, iteration)

export const repairPromptFor = ({ mode }: Progress, reason: string): string =>
  mode === 'standard' ? buildRepairPrompt(reason, phaseReporting()) : buildRepairPrompt(reason)

/** How the report is read. */
export function reportIn({ mode }: Progress, said: Said, prompt: string): AttemptEnd {
  if (mode === 'ralph') return readReport(said.text, prompt, said.structured)
  const found = findReport({ schema: PhaseReport }, said, prompt)
  return found.kind === 'report' ? { kind: 'phase-report', report: found.report } : found
}
