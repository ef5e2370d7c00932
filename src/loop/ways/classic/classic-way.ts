import { clipText } from '../../../contract/text.ts'
import type { Report } from '../../../contract/report.ts'
import { findCompletion } from '../../core/find-completion.ts'
import { findReport } from '../../core/read-report.ts'
import type { AgentMessage, Way } from '../../core/way.ts'
import { goalForm } from '../goal/goal-report.ts'
import { goalWay } from '../goal/goal-way.ts'
import { buildClassicPrompt, classicReporting } from './classic-prompt.ts'

/** Works on steps like the goal way; the agent edits them in PROGRESS.yaml itself, and ends with `RALPH_COMPLETE: <summary>`. */
export const classicWay: Way = {
  ...goalWay,
  prompt: buildClassicPrompt,
  reporting: () => classicReporting,
  read: (message, prompt) => ({ kind: 'report', report: readClassicReport(message, prompt) }),
}

/** A turn without a report and without a claim is a good one: what it did is in PROGRESS.yaml. */
function readClassicReport(message: AgentMessage, prompt: string): Report {
  const found = findReport(goalForm, message, prompt)
  if (found.kind === 'report') return found.report
  const nothing = { completedStepIds: [], pendingSteps: [] }
  const goalCompleteSummary = findCompletion(message.text, prompt)
  const summary = clipText(message.text.trim(), longestSummary)
  return goalCompleteSummary === undefined
    ? { status: 'continue', summary, ...nothing }
    : { status: 'goal-complete', summary: goalCompleteSummary, goalCompleteSummary, ...nothing }
}

const longestSummary = 2000
