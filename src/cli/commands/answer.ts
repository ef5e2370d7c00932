import { RalphError } from '../../contract/errors.ts'
import { openSprintFolder } from '../../storage/state/sprint-folder.ts'
import { defineCommand } from '../io/command.ts'
import { recordFact } from '../sprint/record-fact.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

export const answer = defineCommand({
  name: 'answer',
  summary: 'Answer the open question of a sprint',
  arguments: ['<sprint-dir>', '<answer>'],
  options: { json: { type: 'boolean', description: 'print {question, answer} as JSON' } },
  details: 'Ralph puts the answer into the next prompt. Resume with: ralph run <sprint-dir>',
  examples: ['ralph answer .claude/sprints/2026-11-15_auth "Use the staging database"'],
  async run({ values, positionals: [given = '', text = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    if (text.trim() === '') throw new RalphError('USAGE', 'answer: the answer is empty')
    const { humanNeeded } = await requireProgress(sprintDir, io)
    if (!humanNeeded) throw new RalphError('FACT_ILLEGAL', 'there is no open question', { place: { file: given } })
    const { reason: question } = humanNeeded
    await recordFact(sprintDir, { type: 'answered', at: io.now(), answer: text }, io)
    io.print(
      values.json === true ? JSON.stringify({ question, answer: text }) : `answered; resume with: ralph run ${given}`,
    )
    return 0
  },
})
