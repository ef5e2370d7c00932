import { join } from 'node:path'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { readTextIfExists } from '../../platform/files/files.ts'
import { sprintPath } from '../../storage/state/sprint-folder.ts'
import { clipLine, toOneLine } from '../../words/text.ts'
import { defineCommand } from '../io/command.ts'
import { displayPath } from '../io/display-path.ts'
import type { Io } from '../io/io.ts'
import type { ChosenSprint } from '../run/choose-sprint.ts'
import { findSprintAndValue, isNoSprint, type FoundSprint } from '../sprint/find-sprint.ts'
import { createSprint, findFreeName } from '../sprint/new-sprint.ts'
import { replaceGoal, slugFromGoal } from '../sprint/sprint-files.ts'
import { requireProgress } from '../sprint/sprint-state.ts'
import { runChosen, runOptions } from './run.ts'

export const followUp = defineCommand({
  name: 'follow-up',
  summary: 'Continue from a finished sprint with a new goal',
  arguments: ['[sprint]', '<goal>'],
  options: runOptions,
  details: `Creates a new sprint with the configuration of the finished one. The agent learns what that sprint did and where its
history is. The files as they are now are the new baseline.`,
  examples: ['ralph follow-up "Now document it"', 'ralph follow-up auth "Add a logout" --budget-usd 5'],
  async run({ values, positionals }, io) {
    return runChosen(values, io, async (shown) => {
      const { value: goal = '', ...sprint } = await findSprintAndValue(positionals, isNoSprint(shown), shown)
      return createFollowUp(sprint, goal, shown)
    })
  },
})

async function createFollowUp(sprint: FoundSprint, goal: string, io: Io): Promise<ChosenSprint> {
  if (goal.trim() === '')
    throw new RalphError('USAGE', 'follow-up: missing <goal>', { hint: 'say what the agent should do next' })
  const progress = await requireProgress(sprint.sprintDir, io)
  if (progress.status !== 'completed') {
    throw new RalphError('USAGE', `follow-up: the sprint is not finished (${progress.status})`, {
      place: { file: sprint.name },
      hint: `resume it with: ralph run ${sprint.name}; send the agent a message with: ralph tell ${sprint.name} "…"`,
    })
  }
  const before = (await readTextIfExists(sprintPath(sprint.sprintDir))) ?? 'workflow: ralph\n'
  const text = replaceGoal(before, `${goal.trim()}\n\n${describeEarlierWork(sprint, progress, io)}`)
  const sprintDir = await createSprint(findFreeName(slugFromGoal(goal), io), text, io)
  io.printError(`new sprint in ${displayPath(sprintDir, io)}, continuing ${sprint.name}`)
  return { sprintDir, isNew: false }
}

const maxIterationLines = 20

/** What the agent of the new sprint must know about the finished one. */
function describeEarlierWork({ sprintDir }: FoundSprint, progress: Progress, io: Io): string {
  const { ralphExit, iterations, goal, sprintId } = progress
  const done = iterations
    .slice(-maxIterationLines)
    .map(({ number, summary = '' }) => `- iteration ${number}: ${clipLine(toOneLine(summary), 200)}`)
  const history = displayPath(join(sprintDir, 'PROGRESS.yaml'), io)
  return [
    `Earlier work: the sprint ${sprintId} reached the goal "${clipLine(toOneLine(goal), 500)}".`,
    ...(ralphExit.finalSummary == null ? [] : [`Its result: ${clipLine(toOneLine(ralphExit.finalSummary), 500)}`]),
    ...done,
    `Its whole history is in ${history}.`,
  ].join('\n')
}
