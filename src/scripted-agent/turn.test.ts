import { describe, expect, it } from 'vitest'
import { parseScenario } from './scenario.ts'
import { chooseTurn, finalMessage } from './turn.ts'

const scenario = (source: string) => parseScenario(source, 'SCENARIO.yaml')

describe('the turn', () => {
  const { turns, pace } = scenario(`
turns:
  - say: fallback
  - { say: refused, when: ['^## Refused', 'half an egg'] }
  - { say: planning, when: '^# Ralph: planning' }
`)

  it.each([
    ['is the first one that matches', '# Ralph: planning\n\n## Refused: tests\nno half an egg', 'refused'],
    ['needs all its patterns', '# Ralph: planning\n\nno half an egg', 'planning'],
    ['is the one without patterns if nothing matches', '# Ralph: reflecting', 'fallback'],
  ])('%s', (_, prompt, text) => {
    expect(chooseTurn({ turns, pace }, prompt).say).toBe(text)
    expect(chooseTurn({ turns, pace }, prompt).say).toBe(text)
  })

  it('is an error without a match and without a fallback', () => {
    expect(() => chooseTurn(scenario('turns: [{ when: planning }]'), '\n# Ralph: reflecting\n\nGoal')).toThrow(
      'no turn matches a prompt that starts with "# Ralph: reflecting"',
    )
  })
})

describe('the final message', () => {
  const turn = chooseTurn(
    scenario('turns: [{ report: { status: continue, summary: "$STEP is done", completedStepIds: [$STEP] } }]'),
    '',
  )

  it('has the summary and the report as a JSON block, with the step of the prompt', () => {
    expect(finalMessage(turn, '# Ralph: executing\n\n## Current step: step-7\nDo it\n')).toBe(`step-7 is done

\`\`\`json
{
  "status": "continue",
  "summary": "step-7 is done",
  "completedStepIds": [
    "step-7"
  ]
}
\`\`\``)
  })

  it('is an error if it needs a step and the prompt names none', () => {
    expect(() => finalMessage(turn, '# Ralph: planning\n\nThe text "## Current step: step-7" in a sentence')).toThrow(
      'the report names $STEP, but the prompt has no line "## Current step: <id>"',
    )
  })

  it('is absent without a report', () => {
    expect(finalMessage(chooseTurn(scenario('turns: [{ say: hello }]'), ''), '')).toBeUndefined()
  })
})
