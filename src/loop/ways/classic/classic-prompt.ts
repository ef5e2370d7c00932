import type { Mode } from '../../../contract/progress.ts'
import { formatTimestamp } from '../../../contract/time.ts'
import {
  formatAnswer,
  formatFeedback,
  formatLearnings,
  formatSharedContext,
  formatMessages,
  formatRefusals,
  promptLimits,
} from '../../core/prompt-sections.ts'
import type { Sprint } from '../../core/sprint.ts'
import type { PromptInput } from '../../core/way.ts'
import { getGoal } from '../goal/goal-state.ts'

/** The prompt of the classic protocol, word for word as in the seeds; added is only what the agent cannot find in the file. */
export function buildClassicPrompt(sprint: Sprint, iteration: PromptInput): string {
  const sections = [
    ...bodies[iteration.mode](sprint, iteration),
    formatSharedContext(iteration.shared),
    formatRefusals(sprint, promptLimits.outputCharacters),
    formatFeedback(sprint),
    formatAnswer(sprint),
    formatMessages(sprint),
    iteration.smallPrompt ? undefined : formatLearnings(iteration.notes),
    completions[iteration.mode](iteration.progressFile ?? unknownFile),
  ]
  return `${sections.filter((section) => section !== undefined).join('\n\n')}\n`
}

/** How to end in an interrupted session. */
export const classicReporting = `Edit PROGRESS.yaml as before. When goal is FULLY achieved: RALPH_COMPLETE: [summary]`

const bodies: Record<Mode, (sprint: Sprint, iteration: PromptInput) => (string | undefined)[]> = {
  planning: (sprint, { number, startedAt, progressFile = unknownFile }) => [
    '# Ralph Mode: Goal Analysis',
    `## Your Goal\n${sprint.plan.goal.trim()}`,
    getGoal(sprint).ralph.goalPrompt?.trim() || undefined,
    `## Instructions
1. Analyze the goal and break it into concrete steps
2. Add steps to PROGRESS.yaml:
   \`\`\`bash
   yq -i '.dynamic-steps += [{"id": "step-N", "prompt": "...", "status": "pending", "added-at": "${formatSeconds(startedAt)}", "added-in-iteration": ${number}}]' "${progressFile}"
   \`\`\`
3. Then execute the first pending step`,
  ],
  executing: (sprint, { step = '', progressFile = unknownFile }) => [
    '# Ralph Mode: Execute Step',
    `## Goal (context)\n${sprint.plan.goal.trim()}`,
    `## Current Task: ${step}\n${
      getGoal(sprint)
        .dynamicSteps.find(({ id }) => id === step)
        ?.prompt.trim() ?? ''
    }`,
    `## Instructions
1. Execute this task
2. Mark complete:
   \`\`\`bash
   yq -i '(.dynamic-steps[] | select(.id == "${step}")).status = "completed"' "${progressFile}"
   \`\`\`
3. Optionally add new steps if needed
4. EXIT after this task`,
  ],
  reflecting: (sprint) => [
    '# Ralph Mode: Reflection Required',
    `## Goal\n${sprint.plan.goal.trim()}`,
    `## Completed: ${sprint.stats.completedSteps} steps\nNo pending steps remain.`,
    getGoal(sprint).ralph.reflectionPrompt?.trim() || undefined,
  ],
}

const completions: Record<Mode, (progressFile: string) => string> = {
  planning: () => '## Completion\nWhen goal is FULLY achieved: RALPH_COMPLETE: [summary]',
  executing: () => '## Completion\nIf this completes the entire goal: RALPH_COMPLETE: [summary]',
  reflecting: (progressFile) => `## Choose:
A) Goal achieved → RALPH_COMPLETE: [detailed summary]
B) More work needed → add new steps
C) Blocked → yq -i '.status = "needs-human"' "${progressFile}"`,
}

const unknownFile = 'PROGRESS.yaml'

/** As `date -u +%Y-%m-%dT%H:%M:%SZ` prints it; before the iteration starts, the command itself. */
const formatSeconds = (at: number | undefined): string =>
  at === undefined ? '$(date -u +%Y-%m-%dT%H:%M:%SZ)' : formatTimestamp(at).replace(/\.\d+Z$/, 'Z')
