import { describe, expect, it } from 'vitest'
import { fillHookPrompt, findUnknownHookVariables } from './prompt-variables.ts'

const values = {
  ITERATION_TRANSCRIPT: 't/iteration-5.jsonl',
  SPRINT_ID: 'S1',
  ITERATION: '5',
  PHASE_ID: 'step-2',
  ITEM_ID: 'item-1',
}

describe('the prompt of a hook (rows 113, 115, 116, 118, 119)', () => {
  it.each([
    ['/x $ITERATION_TRANSCRIPT --sprint $SPRINT_ID', '/x t/iteration-5.jsonl --sprint S1'],
    [
      '/m42-signs:extract $ITERATION_TRANSCRIPT --auto-apply-high --sprint $SPRINT_ID --phase $PHASE_ID',
      '/m42-signs:extract t/iteration-5.jsonl --auto-apply-high --sprint S1 --phase step-2',
    ],
    ['$ITERATION$ITERATION', '55'],
    ['$ITERATION_$PHASE_ID', '5_step-2'],
    ['${ITERATION}st ${SPRINT_ID}', '5st S1'],
    ['$ITERATIONS $ITERATION_COUNT', '$ITERATIONS $ITERATION_COUNT'],
    ['$HOME $PATH ${USER} $1 $ $$', '$HOME $PATH ${USER} $1 $ $$'],
    ['$iteration', '$iteration'],
  ])('%j becomes %j', (prompt, filled) => {
    expect(fillHookPrompt(prompt, values)).toBe(filled)
  })

  it('is filled in one pass: a value is neither expanded nor treated as a pattern', () => {
    expect(fillHookPrompt('$PHASE_ID', { ...values, PHASE_ID: '$SPRINT_ID $& $1' })).toBe('$SPRINT_ID $& $1')
  })

  it('is searched for unknown variables', () => {
    expect(
      findUnknownHookVariables('$ITERATION $ITERATIONS ${HOME} $HOME $HOME $5 costs, ${ITERATION_TRANSCRIPT}'),
    ).toEqual(['$ITERATIONS', '${HOME}', '$HOME'])
    expect(findUnknownHookVariables('nothing')).toEqual([])
  })
})
