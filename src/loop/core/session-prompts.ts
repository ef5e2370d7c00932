import { defuseOldReportForm, formatFeedback, formatMessages, toOneLine } from './prompt-sections.ts'
import type { Sprint } from './sprint.ts'

/** Explains to an agent, in its interrupted session, why it was interrupted. `form` describes the format of the report. */
export function buildMessagePrompt(sprint: Sprint, form: string): string {
  const sections = [
    'You were interrupted in the middle of your work. Your work so far is still there; a command that was running has been ended.',
    formatMessages(sprint),
    formatFeedback(sprint),
    'Take this into account and continue with the same task. Then report as before.',
    form,
  ]
  return defuseOldReportForm(`${sections.filter((section) => section !== undefined).join('\n\n')}\n`)
}

/** Asks, in the same session, only for the missing report. `form` describes its format. */
export const buildRepairPrompt = (
  reason: string,
  form: string,
): string => `Your last message had no valid report: ${toOneLine(reason)}.

Do not do any more work. Answer only with the report about the work that you have just done.

${form}
`
