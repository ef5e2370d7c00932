import { describe, expect, it } from 'vitest'
import { findCompletion } from './find-completion.ts'

describe('RALPH_COMPLETE (rows 38, 39, 85)', () => {
  it.each([
    ['plain', 'RALPH_COMPLETE: it works'],
    ['after prose', 'All tests pass.\n\nRALPH_COMPLETE: it works'],
    ['in bold', '**RALPH_COMPLETE: it works**'],
    ['with a bold keyword', '**RALPH_COMPLETE:** it works'],
    ['with a bold keyword before the colon', '**RALPH_COMPLETE**: it works'],
    ['as code', '`RALPH_COMPLETE: it works`'],
    ['as bold code', '**`RALPH_COMPLETE: it works`**'],
    ['in a list', '- RALPH_COMPLETE: it works'],
    ['in a numbered list', '2. RALPH_COMPLETE: it works'],
    ['in a heading', '## RALPH_COMPLETE: it works'],
    ['in a quote', '> RALPH_COMPLETE: it works'],
    ['in a fence', '```\nRALPH_COMPLETE: it works\n```'],
    ['after a sentence', 'Done. RALPH_COMPLETE: it works'],
    ['with the summary on the next line', 'RALPH_COMPLETE:\nit works'],
    ['with the summary after an empty line', '**RALPH_COMPLETE:**\n\nit works\nand more'],
    ['with the summary as a list item', 'RALPH_COMPLETE:\n- it works'],
    ['with text after it', 'RALPH_COMPLETE: it works\nThank you.'],
    ['the last of several', 'RALPH_COMPLETE: almost\nRALPH_COMPLETE: it works'],
    ['with CRLF', 'x\r\nRALPH_COMPLETE: it works\r\n'],
  ])('is found %s', (_, message) => {
    expect(findCompletion(message, '')).toBe('it works')
  })

  it('keeps the summary as written', () => {
    expect(findCompletion('RALPH_COMPLETE: "it" costs $5 and `npm test` is `green`', '')).toBe(
      '"it" costs $5 and `npm test` is `green`',
    )
  })

  it.each([
    ['in the middle of a sentence', 'I will write RALPH_COMPLETE: it works at the end.'],
    ['denied', 'I do not say RALPH_COMPLETE: yet, the tests fail.'],
    ['without a summary', 'RALPH_COMPLETE:  '],
    ['without a colon', 'RALPH_COMPLETE it works'],
    ['in a longer word', 'NOT_RALPH_COMPLETE: it works'],
    ['in lower case', 'ralph_complete: it works'],
    ['with a placeholder', 'RALPH_COMPLETE: [summary]'],
    ['with the other placeholder', 'A) Goal achieved. RALPH_COMPLETE: [detailed summary]'],
  ])('is not found %s', (_, message) => {
    expect(findCompletion(message, '')).toBeUndefined()
  })

  it.each([
    ['word for word', (prompt: string) => prompt],
    ['quoted', (prompt: string) => prompt.replaceAll(/^/gm, '> ')],
    ['in bold', (prompt: string) => prompt.replace('RALPH_COMPLETE: it works', '**RALPH_COMPLETE: it works**')],
    ['indented', (prompt: string) => prompt.replaceAll(/^/gm, '    ')],
    ['twice', (prompt: string) => prompt + prompt],
  ])('in an echo of the prompt is not a claim: %s', (_, echo) => {
    const prompt = 'Goal: end with\nRALPH_COMPLETE: it works\n\nor with\nRALPH_COMPLETE:\n- a list\n\nThank you.\n'

    expect(findCompletion(echo(prompt), prompt)).toBeUndefined()
    expect(findCompletion(`${echo(prompt)}\nRALPH_COMPLETE: my own words`, prompt)).toBe('my own words')
  })

  it.each([
    ['mentions', 'RALPH_COMPLETE: '.repeat(60_000)],
    ['blanks', `RALPH_COMPLETE:${' '.repeat(1e6)}`],
    ['marks', `${'*'.repeat(1e6)}RALPH_COMPLETE:${'*'.repeat(1e6)}`],
    ['lines', `RALPH_COMPLETE:${'\n'.repeat(1e6)}`],
  ])('is searched quickly in a million %s', (_, message) => {
    const began = performance.now()
    findCompletion(message, message)

    expect(performance.now() - began).toBeLessThan(2000)
  })
})
