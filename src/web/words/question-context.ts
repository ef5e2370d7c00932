import type { SprintGlance } from '../../contract/fleet/agent.ts'
import type { SprintQuestion } from '../../contract/fleet/question.ts'
import { formatCap, formatUsd } from '../../words/money.ts'
import { describeChecks, describeSprintState } from '../../words/sprint-state.ts'

type AskingSprint = Pick<SprintGlance, 'status' | 'iteration' | 'maxIterations' | 'checks'> &
  Partial<Pick<SprintGlance, 'spentUsd' | 'capUsd'>>

/** What a user should know before answering, in the words of the sprint's head and of its row in the fleet. */
export function describeQuestionContext(sprint: AskingSprint): string {
  const { iteration, checks, spentUsd, capUsd } = sprint
  const parts = [
    iteration === 0 ? undefined : describeSprintState(sprint).iteration,
    checks && describeChecks(checks),
    spentUsd === undefined
      ? undefined
      : `${formatUsd(spentUsd)}${capUsd === undefined ? '' : ` of ${formatCap(capUsd)}`}`,
  ]
  return parts.filter((part) => part !== undefined).join(' · ')
}

/** How many agents ask: the header, the title of the tab and the counter of the fleet show the same number. */
export const countAskingAgents = (questions: readonly Pick<SprintQuestion, 'status' | 'agentId'>[]): number =>
  new Set(questions.flatMap(({ status, agentId }) => (status === 'open' ? [agentId] : []))).size
