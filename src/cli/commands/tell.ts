import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { RalphError } from '../../contract/errors.ts'
import { defineCommand } from '../io/command.ts'
import { findSprintAndValue, isNoSprint } from '../sprint/find-sprint.ts'
import { sendMessage } from '../sprint/requests.ts'

export const tell = defineCommand({
  name: 'tell',
  summary: 'Send the agent a message',
  arguments: ['[sprint]', '<text>'],
  options: {
    now: {
      type: 'boolean',
      description: 'interrupt the agent and send the message at once, in the same session if the agent can resume it',
    },
    json: { type: 'boolean', description: 'print {told, now} as JSON' },
  },
  details: 'Ralph puts the message into the next prompt. The sprint does not have to be running.',
  examples: ['ralph tell "Use argon2, not bcrypt"', 'ralph tell auth "Stop touching the schema" --now'],
  async run({ values, positionals }, io) {
    const { value: text, ...sprint } = await findSprintAndValue(positionals, isNoSprint(io), io, isRunning)
    if (text === undefined) throw new RalphError('USAGE', 'tell: missing <text>', { hint: 'see: ralph tell --help' })
    const isNow = await sendMessage(sprint, { text, now: values.now === true }, io)
    const when = isNow ? 'sent now' : 'sent with the next prompt'
    io.print(values.json === true ? JSON.stringify({ told: text, now: isNow }) : when)
    return 0
  },
})

const isRunning = (sprintDir: string): boolean => readSprintOwner(sprintDir) !== undefined
