import { expect, it } from 'vitest'
import { findSection, splitNotes } from './notes-sections.ts'

const notes = `# Notes

Where to start reading.

## Task (2026-11-16T12:18:00.442Z)

Write a parser

### How to iterate

(to be found out)

### Work log

Done with the lexer.

---

## Task (2026-11-17T08:00:00.000Z)

Make it fast

### How to iterate

(to be found out)

### Work log

(nothing yet)
`

it('shows the newest task first, without headings that the agent has not filled in', () => {
  expect(splitNotes(notes)).toEqual([
    { task: 'Make it fast', at: Date.parse('2026-11-17T08:00:00.000Z'), text: '' },
    {
      task: 'Write a parser',
      at: Date.parse('2026-11-16T12:18:00.442Z'),
      text: '### Work log\n\nDone with the lexer.',
    },
  ])
})

it('keeps notes without tasks as they are', () => {
  expect(splitNotes('just text\n')).toEqual([{ task: '', text: 'just text' }])
})

it('finds the task of a sprint, not the newest one', () => {
  const sprint = { goal: 'Write a parser', createdAt: Date.parse('2026-11-16T12:18:01.000Z') }
  expect(findSection(splitNotes(notes), sprint)?.task).toBe('Write a parser')
})

it('finds a task that contains headings', () => {
  const goal = 'Write a parser\n\n### Details\n\nBy hand.'
  const text = `# Notes\n\n## Task (2026-11-16T12:18:00.442Z)\n\n${goal}\n\n### Work log\n\nDone.\n`
  const found = findSection(splitNotes(text, goal), { goal, createdAt: 0 })
  expect(found).toMatchObject({ task: goal, text: '### Work log\n\nDone.' })
  // Another task that begins with the same word is another task.
  expect(splitNotes(text, 'Write')[0]?.task).toBe('Write a parser')
})
