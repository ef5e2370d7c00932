import { schemaVersion, type Progress } from '../contract/progress.ts'
import {
  historyFields,
  inboxFields,
  planFields,
  wayFields,
  type RunState,
  type Sprint,
  type WayState,
} from './core/sprint.ts'
import { getWay } from './ways/registry.ts'

/** Neither form ever changes, and an iteration reads the same progress several times. */
const sprints = new WeakMap<Progress, Sprint>()

/** Reads the flat form of a sprint. */
export function fromProgress(progress: Progress): Sprint {
  const known = sprints.get(progress)
  if (known) return known
  const sprint = readSprint(progress)
  sprints.set(progress, sprint)
  return sprint
}

/** Copies references only: its cost does not depend on the size of the sprint. */
function readSprint(progress: Progress): Sprint {
  const { sprintId: id, rev, live, status, reason, parked, humanNeeded: question, stats } = progress
  return {
    id,
    rev,
    plan: pickFields(progress, planFields),
    way: readWay(progress),
    run: readRun(progress),
    live,
    status,
    reason,
    parked,
    question,
    inbox: pickFields(progress, inboxFields),
    history: pickFields(progress, historyFields),
    stats,
  }
}

/** Returns the flat form of a sprint: PROGRESS.yaml, snapshots of the journal, rows of the database, the API. */
export function toProgress(sprint: Sprint): Progress {
  const { id: sprintId, rev, plan, way, run, live, status, reason, parked, question, inbox, history, stats } = sprint
  const { concurrent: _concurrent, ...wayState } = way
  return {
    schemaVersion,
    rev,
    sprintId,
    ...plan,
    ...wayState,
    live,
    status,
    ...(reason !== undefined && { reason }),
    ...(parked && { parked }),
    ...(question && { humanNeeded: question }),
    ...inbox,
    ...history,
    stats,
    ...(run && writeRun(run)),
  }
}

function readWay(progress: Progress): WayState {
  const way = pickFields(progress, wayFields)
  return { concurrent: getWay({ way }).concurrent, ...way }
}

function readRun(progress: Progress): RunState | undefined {
  const { runLimits: limits, runAgents: agents, runChoice: choice, stopRequested, ending, failure } = progress
  if (!limits && !agents && !choice && !stopRequested && !ending && !failure) return undefined
  return { limits, agents, choice, stopRequested, ending, failure }
}

const writeRun = ({ limits, agents, choice, stopRequested, ending, failure }: RunState): Partial<Progress> => ({
  ...(limits && { runLimits: limits }),
  ...(agents && { runAgents: agents }),
  ...(choice && { runChoice: choice }),
  ...(stopRequested && { stopRequested }),
  ...(ending && { ending }),
  ...(failure && { failure }),
})

function pickFields<const K extends keyof Progress>(progress: Progress, fields: readonly K[]): Pick<Progress, K> {
  const picked: Partial<Pick<Progress, K>> = {}
  for (const field of fields) if (progress[field] !== undefined) picked[field] = progress[field]
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a field that is absent here is absent in the progress too
  return picked as Pick<Progress, K>
}
