import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { defineCommand } from '../io/command.ts'
import { sendMessage } from '../sprint/requests.ts'

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
    const isNow = await sendMessage({ sprintDir, given }, { text, now: values.now === true }, io)
    const when = isNow ? 'sent now' : 'sent with the next prompt'
    io.print(values.json === true ? JSON.stringify({ told: text, now: isNow }) : when)
    return 0
  },
})
