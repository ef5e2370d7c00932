import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { defineCommand } from '../io/command.ts'
import { answerQuestion } from '../sprint/requests.ts'

export const answer = defineCommand({
  name: 'answer',
  summary: 'Answer the open question of a sprint',
  arguments: ['<sprint-dir>', '<answer>'],
  options: { json: { type: 'boolean', description: 'print {question, answer} as JSON' } },
  details: 'Ralph puts the answer into the next prompt. Resume with: ralph run <sprint-dir>',
  examples: ['ralph answer .claude/sprints/2026-11-15_auth "Use the staging database"'],
  async run({ values, positionals: [given = '', text = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    const question = await answerQuestion({ sprintDir, given }, text, io)
    io.print(
      values.json === true ? JSON.stringify({ question, answer: text }) : `answered; resume with: ralph run ${given}`,
    )
    return 0
  },
})
