import { expect, it } from 'vitest'
import { buildProgress } from '../../test/support/builders.ts'
import { buildOutcome, createWorld } from '../../test/support/virtual.ts'
import type { Outcome } from '../contract/outcome.ts'

const session = { sessionId: 's-1', resumable: true }
const claim = { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'it works' }
const fenced = `\`\`\`json\n${JSON.stringify(claim)}\n\`\`\``

/** Runs a sprint with an agent that gives these outcomes in order, and then claims the goal. */
async function run(...outcomes: readonly Outcome[]) {
  const world = createWorld({ agent: (start) => outcomes[start - 1] ?? buildOutcome({ text: fenced }) })
  const { done } = world.run(buildProgress())
  await world.clock.pass(60_000)
  return { starts: world.starts, iterations: (await done).iterations }
}

it('Ralph asks for a missing report in the same session, as structured output', async () => {
  const bare = buildOutcome({ text: JSON.stringify(claim) })
  const { starts, iterations } = await run(buildOutcome({ text: 'I forgot.', ...session }), bare)

  expect(iterations).toMatchObject([{ number: 1, verdict: 'accepted', attempts: 2 }])
  expect(starts.map(({ request: { resume, form } }) => ({ resume, form }))).toEqual([
    { resume: undefined, form: undefined },
    { resume: 's-1', form: expect.objectContaining({ type: 'object' }) },
  ])
})

it('a bare JSON message is not a report unless Ralph asked for one', async () => {
  const { iterations } = await run(buildOutcome({ text: JSON.stringify(claim) }))

  expect(iterations).toMatchObject([{ verdict: 'malformed' }, { verdict: 'accepted' }])
})

it('an agent that cannot produce structured output has not reported, but does not repeat its work', async () => {
  const gaveUp = buildOutcome({
    status: 'failed',
    class: 'protocol',
    reason: 'no valid output in 5 tries',
    retryable: true,
  })
  const { iterations } = await run(buildOutcome({ text: 'I forgot.', ...session }), gaveUp)

  expect(iterations).toMatchObject([
    { verdict: 'malformed', attempts: 2, summary: 'no valid output in 5 tries' },
    { verdict: 'accepted', attempts: 1 },
  ])
})
