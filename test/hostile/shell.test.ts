import { expect, it } from 'vitest'
import { createTestSprint } from '../support/sprint.ts'

const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'done' }

/** Characters that a shell, a template or a replacement would interpret. */
const tricky = `$(touch pwned) \`touch pwned\` ; touch pwned & | > pwned 'x' "y" \\ $HOME \${HOME} $& $' $1 $ITERATION_TRANSCRIPTS
{{goal}} {{ constructor }} %s %n !! ~ * ? [a-z] {a,b} # -rf --help <(touch pwned) $'\\x41' \u202e`

it('passes texts byte for byte, whatever a shell would make of them', async () => {
  const text = `found ${tricky}`
  const sprint = await createTestSprint({
    sprint: {
      goal: tricky,
      'done-when': [],
      'per-iteration-hooks': [
        { id: 'asks', prompt: `zebra ${tricky}` },
        { id: 'runs', run: 'printenv SPRINT_ID ITERATION >/dev/null' },
      ],
      notify: [{ run: 'printenv RALPH_TEXT >notified.txt' }],
    },
    answers: {
      1: { status: 'continue', summary: text, pendingSteps: [{ id: null, prompt: text }] },
      2: { status: 'needs-human', summary: text, humanNeeded: { reason: text, details: text } },
      '/zebra/': claim,
    },
  })

  expect(await sprint.run()).toMatchObject({ exitCode: 2 })
  const [first = '', second = ''] = (await sprint.calls())
    .filter(({ kind }) => kind === 'numbered')
    .map(({ prompt }) => prompt)
  expect(first).toContain(tricky)
  expect(second).toContain(text)
  const [call] = (await sprint.calls()).filter(({ kind }) => kind === 'matched')
  expect(call?.prompt).toContain(`zebra ${tricky}`)
  expect(await sprint.read('notified.txt')).toContain('$(touch pwned)')
  expect(sprint.has('pwned')).toBe(false)
})
