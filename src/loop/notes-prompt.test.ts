import { describe, expect, it } from 'vitest'
import { aLive, aProgress, red } from '../../test/support/builders.ts'
import { promptFor } from './protocol.ts'

const aRalphMode = (given: Parameters<typeof aProgress>[0] = {}) => aProgress({ protocol: 'notes', ...given })
const asked = (given: Parameters<typeof aProgress>[0] = {}) =>
  promptFor(aRalphMode(given), { ...aLive(), notesFolder: '~/notes/' })

describe('the prompt of Ralph Mode', () => {
  it('gives all the instructions of the seed, with the configured folder', () => {
    const prompt = asked()
    for (const said of [
      'you are in autonomous mode, the human in the loop is away',
      "ensure it's documented in README.md and other interconnected .md files under ~/notes/",
      'what is the task about',
      'how to iterate on the task',
      'what are the validation criterias (and which one got validated already)',
      "what's the last few units of work done",
      'we might be starting or continuing that task',
      'go towards finishing the task by solving one problem and solving it well',
      'document as you do things for the next agent',
      'delete the ~/notes/.task-lock file',
    ]) {
      expect(prompt).toContain(said)
    }
  })

  it('is the same for every task and iteration', () => {
    expect(asked({ goal: 'something else', stats: { currentIteration: 7 } })).toBe(asked())
  })

  it('adds what the agent cannot find in its notes', () => {
    const prompt = asked({
      refusedBy: [red('npm test', 'line 3 is wrong')],
      answer: { question: 'Which?', answer: 'the blue one', at: 0 },
      messages: [{ text: 'hurry', at: 0 }],
    })
    for (const said of ['line 3 is wrong', 'the blue one', 'hurry']) expect(prompt).toContain(said)
  })
})
