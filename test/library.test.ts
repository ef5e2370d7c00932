import { advance, buildPrompt, compile, readReport, type Fact, type Progress } from 'ralph-mode'
import { expect, it } from 'vitest'

it("takes a sprint from its file to the reached goal with the package's exports", () => {
  const compiled = compileGoal('Say hello')
  const started = advance(compiled, { type: 'started', at: 1000 })
  expect(started.orders).toContainEqual({ type: 'run-attempt', iteration: 1, attempt: 1 })

  const prompt = buildPrompt(started.progress, { number: 1, mode: 'planning' })
  expect(prompt).toContain('## Goal\n\nSay hello')

  const claimed = advance(started.progress, attemptThatSaid('RALPH_COMPLETE: hello was said', prompt))
  expect(claimed.orders).toContainEqual({ type: 'make-checkpoint', iteration: 1 })

  const ended = advance(claimed.progress, { type: 'checkpoint-made', at: 2000, iteration: 1 })
  expect({ status: ended.progress.status, exit: ended.progress.ralphExit }).toEqual({
    status: 'completed',
    exit: { detectedAt: 2000, iteration: 1, finalSummary: 'hello was said', unchecked: true },
  })
})

function compileGoal(goal: string): Progress {
  const { progress, diagnostics } = compile({
    sprint: { file: 'SPRINT.yaml', text: `workflow: plain\ngoal: ${goal}\n` },
    readWorkflow: () => ({ file: 'plain.yaml', text: 'name: Plain\nmode: ralph\n' }),
    defaultSprintId: 'hello',
    at: 0,
  })
  if (!progress) throw new Error(JSON.stringify(diagnostics))
  return progress
}

const attemptThatSaid = (message: string, prompt: string): Fact => ({
  type: 'attempt-ended',
  at: 2000,
  iteration: 1,
  attempt: 1,
  end: readReport(message, prompt),
  usage: { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0 },
  costUsd: 0,
  random: 0,
})
