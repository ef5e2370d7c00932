import { RalphError } from '../../contract/errors.ts'
import { advance } from '../../loop/advance.ts'
import { readProgress, writeProgress } from '../../storage/progress-file.ts'
import { openSprintFolder } from '../../storage/sprint-folder.ts'
import { command } from '../command.ts'

export const answer = command({
  name: 'answer',
  summary: 'Answer the question a sprint waits for',
  arguments: ['<sprint-dir>', '<answer>'],
  options: { json: { type: 'boolean', description: 'print {question, answer} as JSON' } },
  details: 'The answer is in the next prompt. Go on with: ralph run <sprint-dir>',
  examples: ['ralph answer .claude/sprints/2026-11-15_auth "Use the staging database"'],
  async run({ values, positionals: [given = '', text = ''] }, io) {
    const sprintDir = openSprintFolder(given)
    const progress = await readProgress(sprintDir)
    if (!progress?.humanNeeded) {
      throw new RalphError('FACT_ILLEGAL', 'there is no open question', { place: { file: given } })
    }
    if (text.trim() === '') throw new RalphError('USAGE', 'answer: the answer is empty')
    const { reason: question } = progress.humanNeeded
    await writeProgress(sprintDir, advance(progress, { type: 'answered', at: io.now(), answer: text }).progress)
    io.print(
      values.json === true ? JSON.stringify({ question, answer: text }) : `answered; go on with: ralph run ${given}`,
    )
    return 0
  },
})
