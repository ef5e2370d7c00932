import { RalphError } from '../contract/errors.ts'
import type { Scenario, Turn } from './scenario.ts'

/** The first turn whose patterns all match the prompt. Stateless: the same prompt always plays the same turn. */
export function chooseTurn({ turns }: Scenario, prompt: string): Turn {
  const matching = turns.find(({ when }) => when?.every((pattern) => pattern.test(prompt)))
  const turn = matching ?? turns.find(({ when }) => when === undefined)
  if (turn) return turn
  const [firstLine = ''] = prompt.trimStart().split('\n', 1)
  throw new RalphError('INVALID_SCENARIO', `no turn matches a prompt that starts with "${firstLine.slice(0, 80)}"`, {
    hint: 'add a turn whose `when` matches it, or one without `when`',
  })
}

/** The last message of a turn: its summary and the report, with `$STEP` replaced by the step that the prompt names. */
export function finalMessage({ report }: Turn, prompt: string): string | undefined {
  if (!report) return undefined
  const json = JSON.stringify(report, null, 2)
  return fillStep(`${report.summary}\n\n\`\`\`json\n${json}\n\`\`\``, prompt)
}

function fillStep(message: string, prompt: string): string {
  if (!message.includes('$STEP')) return message
  const step = /^## Current step: (\S+)/m.exec(prompt)?.[1]
  if (step !== undefined) return message.replaceAll('$STEP', () => step)
  throw new RalphError('INVALID_SCENARIO', 'the report names $STEP, but the prompt has no line "## Current step: <id>"')
}
