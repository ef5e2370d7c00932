import { RalphError } from '../../contract/errors.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { defineCommand } from '../io/command.ts'
import { requestStop, type StopMoment, type StopStatus } from '../sprint/requests.ts'

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
    arguments: ['<sprint-dir>'],
    options,
    details: 'Resume the sprint with: ralph run <sprint-dir>',
    examples: [`ralph ${name} .claude/sprints/2026-11-15_auth`, `ralph ${name} s --now`],
    async run({ values, positionals: [given = ''] }, io) {
      const sprintDir = openSprintFolder(given)
      const when = parseStopWhen(values)
      const owner = await requestStop({ sprintDir, given }, { as, when }, io)
      io.print(
        values.json === true ? JSON.stringify({ requested: as, when }) : `asked ${owner}: ${name} ${wording[when]}`,
      )
      return 0
    },
  })

const wording: Readonly<Record<StopMoment, string>> = {
  iteration: 'after the iteration',
  turn: "after the agent's turn",
  now: 'now',
}

function parseStopWhen(values: StopFlags): StopMoment {
  const given = [
    ...(values['after-iteration'] === true ? ['iteration' as const] : []),
    ...(values['after-turn'] === true ? ['turn' as const] : []),
    ...(values.now === true ? ['now' as const] : []),
  ]
  if (given.length > 1) throw new RalphError('USAGE', 'use one of --after-iteration, --after-turn, --now')
  return given[0] ?? 'iteration'
}

export const pause = createStopCommand('pause', 'paused', 'Pause a running sprint')
export const stop = createStopCommand('stop', 'interrupted', 'Stop a running sprint')
