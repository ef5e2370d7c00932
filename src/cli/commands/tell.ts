import { RalphError } from '../../contract/errors.ts'
import { postRequest } from '../../storage/sprint/requests.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { defineCommand } from '../io/command.ts'
import { recordFact } from '../sprint/record-fact.ts'
import { noResponseError } from './stop.ts'

export const tell = defineCommand({
  name: 'tell',
  summary: 'Send the agent a message',
  arguments: ['<sprint-dir>', '<text>'],
  options: {
    now: {
      type: 'boolean',
      description: 'interrupt the agent and send the message at once, in the same session if the agent can resume it',
    },
    json: { type: 'boolean', description: 'print {told, now} as JSON' },
  },
  details: 'Ralph puts the message into the next prompt. The sprint does not have to be running.',
  examples: [
    'ralph tell .claude/sprints/2026-11-15_auth "Use argon2, not bcrypt"',
    'ralph tell s "Stop touching the schema" --now',
  ],
  async run({ values, positionals: [given = '', text = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    const now = values.now === true
    if (text.trim() === '') throw new RalphError('USAGE', 'tell: the message is empty')
    const owner = readSprintOwner(sprintDir)
    const running = owner !== undefined
    if (running) {
      if (!(await postRequest(sprintDir, { type: 'tell', text, now }, io.now()))) throw noResponseError(owner, given)
    } else await recordFact(sprintDir, { type: 'told', at: io.now(), text, now: false }, io)
    const when = running && now ? 'sent now' : 'sent with the next prompt'
    io.print(values.json === true ? JSON.stringify({ told: text, now: running && now }) : when)
    return 0
  },
})
