import { describe, expect, it } from 'vitest'
import { buildLive, buildProgress, red } from '../../../../test/support/builders.ts'
import { buildIterationPrompt } from '../../prompts.ts'

const createRalphMode = (overrides: Parameters<typeof buildProgress>[0] = {}) =>
  buildProgress({ protocol: 'notes', ...overrides })
const buildPrompt = (overrides: Parameters<typeof buildProgress>[0] = {}) =>
  buildIterationPrompt(createRalphMode(overrides), { ...buildLive(), notesFolder: '~/notes/' })

describe('the prompt of Ralph Mode', () => {
  it('gives all the instructions of the seed, with the configured folder', () => {
    const prompt = buildPrompt()
    for (const text of [
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
      expect(prompt).toContain(text)
    }
  })

  it('is the same for every task and iteration', () => {
    expect(buildPrompt({ goal: 'something else', stats: { currentIteration: 7 } })).toBe(buildPrompt())
  })

  it('adds what the agent cannot find in its notes', () => {
    const prompt = buildPrompt({
      refusedBy: [red('npm test', 'line 3 is wrong')],
      answer: { question: 'Which?', answer: 'the blue one', at: 0 },
      messages: [{ text: 'hurry', at: 0 }],
    })
    for (const text of ['line 3 is wrong', 'the blue one', 'hurry']) expect(prompt).toContain(text)
  })
})
