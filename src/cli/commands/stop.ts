import { RalphError } from '../../contract/errors.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { defineCommand } from '../io/command.ts'
import { findSprint } from '../sprint/find-sprint.ts'
import { requestStop, type StopMoment, type StopStatus } from '../sprint/requests.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import { resumeCommand } from '../view/raised-limits.ts'

const options = {
  'after-iteration': { type: 'boolean', description: 'after the iteration with its checks and hooks (default)' },
  'after-turn': {
    type: 'boolean',
    description: "after the agent's turn; the next run does the checks and hooks",
  },
  now: { type: 'boolean', description: 'end the attempt immediately; the next run repeats it' },
  json: { type: 'boolean', description: 'print {requested, when} as JSON' },
} as const

type StopFlags = { readonly 'after-iteration'?: boolean; readonly 'after-turn'?: boolean; readonly now?: boolean }

/** Commands that end a run from another terminal; they differ in the status they leave. */
const createStopCommand = (name: 'pause' | 'stop', as: StopStatus, summary: string) =>
  defineCommand({
    name,
    summary,
    arguments: ['[sprint]'],
    options,
    details: 'Without a name, acts on the sprint that is running. Resume it with: ralph run',
    examples: [`ralph ${name}`, `ralph ${name} auth --now`],
    async run({ values, positionals: [sprintArgument] }, io) {
      const when = parseStopWhen(values)
      const sprint = await findSprint(sprintArgument, io, isRunning)
      const progress = await loadProgress(sprint.sprintDir).catch(() => undefined)
      const owner = await requestStop(sprint, { as, when }, io)
      io.print(
        values.json === true
          ? JSON.stringify({ requested: as, when })
          : `${sprint.name} ${name}s ${wording[when]} (${owner.replace(/ since .*/, '')}); resume with: ${resumeCommand(sprint.name, progress)}`,
      )
      return 0
    },
  })

const isRunning = (sprintDir: string): boolean => readSprintOwner(sprintDir) !== undefined

const wording: Readonly<Record<StopMoment, string>> = {
  iteration: 'after the iteration',
  turn: "after the agent's turn",
  now: 'now',
}

function parseStopWhen(values: StopFlags): StopMoment {
  const moments = [
    ...(values['after-iteration'] === true ? ['iteration' as const] : []),
    ...(values['after-turn'] === true ? ['turn' as const] : []),
    ...(values.now === true ? ['now' as const] : []),
  ]
  if (moments.length > 1) throw new RalphError('USAGE', 'use one of --after-iteration, --after-turn, --now')
  return moments[0] ?? 'iteration'
}

export const pause = createStopCommand('pause', 'paused', 'Pause a running sprint')
export const stop = createStopCommand('stop', 'interrupted', 'Stop a running sprint')
