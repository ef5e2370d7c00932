import { createTestSprint, type RawProgress, type Setup, type TestSprint } from './sprint.ts'

/** The report of an agent that has done its task. */
export const completedReport = { status: 'completed', summary: 'ok' }

/** A sprint whose workflow has these phases. */
export function createPhasesSprint(
  phases: readonly Readonly<Record<string, unknown>>[],
  setup: Setup = {},
): Promise<TestSprint> {
  const files = {
    's/SPRINT.yaml': JSON.stringify({ workflow: 'phases', ...setup.sprint }),
    'wf/phases.yaml': JSON.stringify({ name: 'W', phases, ...setup.workflow }),
    ...setup.files,
  }
  return createTestSprint({ ...setup, files })
}

/** The tasks of the agent, call by call. */
export const readTasks = async (sprint: TestSprint): Promise<string[]> =>
  (await sprint.calls()).map(({ prompt }) => /## Your task\s+(.*)/.exec(prompt)?.[1] ?? 'something else')

/** The status of each phase, by its id. */
export const readStatuses = ({ phases = [] }: RawProgress): Record<string, string> =>
  Object.fromEntries(phases.map(({ id, status }) => [id, status]))
