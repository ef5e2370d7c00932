import { describe, expect, it } from 'vitest'
import { fillPromptPart, findUnknownPromptVariables } from './prompt-variables.ts'

describe('a part of a prompt', () => {
  it('is filled in one pass, empty for variables without a value', () => {
    const text = '{{sprint-id}} {{ phase.index }}/{{phase.total}} [{{error}}] {{step.prompt}} {{nope}} {{item.x}}'

    expect(
      fillPromptPart(text, { 'sprint-id': 'S', 'phase.index': '1', 'phase.total': '3', 'step.prompt': '{{error}} $&' }),
    ).toBe('S 1/3 [] {{error}} $& {{nope}} {{item.x}}')
  })

  it('is searched for unknown variables', () => {
    expect(findUnknownPromptVariables('{{sprint-id}} {{ nope }} {{phase.name}} {{ nope }} {{}}')).toEqual([
      '{{ nope }}',
      '{{phase.name}}',
    ])
  })
})
