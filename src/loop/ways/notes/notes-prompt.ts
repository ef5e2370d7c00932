import { isStuck } from '../../core/limits.ts'
import type { Sprint } from '../../core/sprint.ts'
import {
  formatAnswer,
  formatFeedback,
  formatMessages,
  promptLimits,
  formatRefusals,
  defuseOldReportForm,
} from '../../core/prompt-sections.ts'

/** File that the agent deletes when it is done or stuck. */
export const lockName = '.task-lock'
/** File in which the agent says which of the two it is. */
export const outcomeName = 'OUTCOME'

/**
 * The prompt of the notes protocol. It is the same every time, because the task is in the notes; added is only what the agent
 * cannot find there: refused claims and messages from users.
 */
export function buildNotesPrompt(sprint: Sprint, folder: string): string {
  const sections = [
    formatInstructions(folder.replace(/\/$/, '')),
    formatStuckNotes(sprint),
    formatRefusals(sprint, promptLimits.outputCharacters),
    formatFeedback(sprint),
    formatAnswer(sprint),
    formatMessages(sprint),
  ]
  return defuseOldReportForm(`${sections.filter((section) => section !== undefined).join('\n\n')}\n`)
}

/** How to report in an interrupted session; replaces the description of the JSON report. */
export const notesReporting = (folder: string): string =>
  `When the task is finished, or you are stuck, say so in ${folder}/${outcomeName} and delete ${folder}/${lockName}, as before.`

const formatInstructions = (folder: string): string =>
  `you are in autonomous mode, the human in the loop is away and it's for you to figure things out
regarding your current task:
- ensure it's documented in README.md and other interconnected .md files under ${folder}/, with the README acting mostly as a good starting point, and other files diving into specifics
1. ensure the README.md clearly explains or links to files explaining:
 - what is the task about
 - how to iterate on the task
 - what are the validation criterias (and which one got validated already)
 - what's the last few units of work done
 - (all the above in a concise and noise/bs-free way)
2. we might be starting or continuing that task so figure out where we are in that process
3. go towards finishing the task by solving one problem and solving it well
4. document as you do things for the next agent to be able to dive gradually into what you did, what you learned, not repeat the same mistakes
5. if the task is finished and would like to notify the human or you're dead stuck and need a human to intervene, first write one line into ${folder}/${outcomeName} that begins with the word done or the word stuck and says in a sentence what was reached or what is needed, then delete the ${folder}/${lockName} file`

function formatStuckNotes(sprint: Sprint): string | undefined {
  if (!isStuck(sprint)) return undefined
  return `In the last ${sprint.stats.withoutProgress} iterations no file and no check has changed. Whatever was tried does not work: find another way, or say that you are stuck.`
}
