import { expect, it } from 'vitest'
import type { FleetRow } from '../../src/contract/fleet/agent.ts'
import type { Progress } from '../../src/contract/progress.ts'
import { summarizeSprint } from '../../src/contract/sprint-summary.ts'
import { showGlance } from '../../src/backend/views/show.ts'
import { advance } from '../../src/loop/advance.ts'
import { createCheckGrid } from '../../src/web/features/sprint/checks-grid.ts'
import { createStripCells } from '../../src/web/features/sprint/strip-cells.ts'
import { findSection, splitNotes } from '../../src/web/words/notes-sections.ts'
import { countAskingAgents, describeQuestionContext } from '../../src/web/words/question-context.ts'
import { describeSituation } from '../../src/web/words/situation.ts'
import { describeChecks, describeSprintState } from '../../src/words/sprint-state.ts'
import { buildAgentRow, buildMachine } from '../support/fake-fleet.ts'
import { buildCheck, buildLive, buildProgress, noon } from '../support/builders.ts'
import { simulate } from '../simulation/simulate.ts'

const id = '0198b6a0-0000-7000-8000-000000000001'

/** What the parts of the page say about one state of a sprint. */
function look(progress: Progress) {
  const question =
    progress.status === 'needs-human' && progress.humanNeeded
      ? { id, reason: progress.humanNeeded.reason, askedAt: noon }
      : null
  const glance = showGlance({
    id,
    status: progress.status,
    diff: null,
    branch: null,
    updatedAt: noon,
    glimpse: { ...progress, iterations: progress.iterations.slice(-20) },
    question,
  })
  const row: FleetRow = {
    ...buildAgentRow('api', buildMachine('vm-1'), { sprint: glance }),
  }
  const cells = createStripCells(progress.iterations, { progress }, noon).flatMap((cell) =>
    cell.kind === 'iteration' ? [cell] : [],
  )
  const parked = createStripCells(progress.iterations, { progress }, noon).some(
    (cell) => cell.kind === 'gap' && cell.waiting,
  )
  return {
    head: describeSprintState(summarizeSprint(progress)),
    row: describeSituation(row, noon),
    glance,
    /** The number in the header, and the line above a question in the inbox. */
    inbox: {
      asking: countAskingAgents(question ? [{ status: 'open', agentId: row.agent.id }] : []),
      context: describeQuestionContext(summarizeSprint(progress)),
    },
    /** The notes card. */
    notes: findSection(splitNotes(writeNotes(progress.goal), progress.goal), { goal: progress.goal, createdAt: noon }),
    cells,
    parked,
    grid: createCheckGrid(progress.iterations, progress),
  }
}

/** The notes of an agent with earlier and later tasks, and an earlier sprint with the same one. */
const writeNotes = (goal: string): string =>
  [goal, `${goal} again`, goal, 'Another task']
    .map((task, day) => {
      const at = new Date(noon + (day - 2) * 86_400_000).toISOString()
      return `## Task (${at})\n\n${task}\n\n### Work log\n\nDay ${day}.\n`
    })
    .join('\n---\n\n')

/** Sentences that contradict each other. */
function contradictions(progress: Progress): string[] {
  const { head, row, glance, inbox, notes, cells, parked, grid } = look(progress)
  const running = cells.filter(({ seen }) => seen.sign === 'now')
  const last = cells.at(-1)
  const wrong = {
    'the notes card shows another task than the head':
      notes?.task !== progress.goal.trim() || notes.text !== '### Work log\n\nDay 2.',
    'the header counts other questions than the fleet': inbox.asking !== (row.group === 'needs-you' ? 1 : 0),
    'the inbox names another iteration than the head': !inbox.context.includes(head.iteration ?? ''),
    'the inbox counts other checks than the row':
      glance.checks !== undefined && !inbox.context.includes(describeChecks(glance.checks)),
    'a cell runs in a sprint that rests': running.length > 0 && !head.live,
    'the strip ends before the iteration of the head':
      progress.stats.currentIteration > 0 &&
      progress.live.length > 0 &&
      last?.number !== progress.stats.currentIteration,
    'the head says what a resting sprint does': head.doing !== undefined && !head.live,
    'the row and the head differ in group':
      row.group !== head.group && glance.question === undefined && progress.status !== 'needs-human',
    'the row and the head differ in label':
      glance.question === undefined && progress.status !== 'needs-human' && !row.label.startsWith(head.label),
    'the row hides what the head says is missing from the goal':
      glance.question === undefined && head.doubt !== undefined && !row.label.includes(head.doubt),
    'the strip waits for a limit and the head does not':
      parked !== (progress.status === 'parked' && progress.parked !== undefined),
    'the row has a limit and the head does not': (glance.parked !== undefined) !== parked,
    'checks have run and the grid is empty':
      glance.checks !== undefined && glance.checks.green > 0 && grid.columns.length === 0,
    'the fleet counts other green checks than the grid':
      glance.checks !== undefined &&
      grid.columns.length > 0 &&
      progress.iterations.every(({ review }) => review === undefined) &&
      progress.live.every(({ review }) => review === undefined) &&
      glance.checks.green !== grid.rows.filter(({ marks }) => marks.at(-1) === true).length,
  }
  return Object.entries(wrong).flatMap(([text, is]) => (is ? [text] : []))
}

it('head, strip, counters, checks, notes, inbox and row agree in every state of random sprints', async () => {
  const found = new Map<string, Progress>()
  let states = 0
  for (let seed = 1; seed <= 60; seed += 1) {
    await simulate(seed, {
      rules: (progress, fact) => {
        const next = advance(progress, fact)
        states += 1
        for (const text of contradictions(next.progress)) if (!found.has(text)) found.set(text, next.progress)
        return next
      },
    })
  }
  expect([...found.keys()]).toEqual([])
  expect(states).toBeGreaterThan(1000)
}, 240_000)

const waiting = buildLive({ number: 8, stage: 'waiting', attempt: 2 })
const stats = { currentIteration: 8 }

it('a stopped sprint neither waits nor runs', () => {
  const { head, cells } = look(buildProgress({ status: 'interrupted', live: [waiting], stats }))
  expect([head.label, head.doing, cells.at(-1)?.seen.words, cells.at(-1)?.sentence]).toEqual([
    'Stopped',
    undefined,
    'was stopped',
    'Iteration 8 was stopped',
  ])
})

it('a sprint that was stopped while parked no longer names the limit', () => {
  const limit = { reason: 'usage limit', until: noon + 60_000 }
  const { glance, parked } = look(buildProgress({ status: 'interrupted', live: [waiting], parked: limit, stats }))
  expect([glance.parked, parked]).toEqual([undefined, false])
})

it('the run before the first iteration is counted, and shown as such', () => {
  const doneWhen = [buildCheck({ run: 'npm test', name: 'npm test' })]
  const { glance, grid } = look(buildProgress({ doneWhen, baseline: [{ name: 'npm test', passed: true }] }))
  expect([glance.checks && describeChecks(glance.checks), grid.columns, grid.rows[0]?.marks]).toEqual([
    '1 of 1 green at the start',
    [0],
    [true],
  ])
})

it.each(['unproven', 'unchecked'] as const)('an %s goal is no plain "Done" in the row either', (doubt) => {
  const { ralphExit } = buildProgress()
  const { head, row } = look(buildProgress({ status: 'completed', ralphExit: { ...ralphExit, [doubt]: true } }))
  expect([head.label, head.doubt, row.label]).toEqual(['Done', doubt, `Done · ${doubt}`])
})
