import { setTimeout as sleep } from 'node:timers/promises'
import type { ObservedSprints, ObservedRequest } from '../../backend/fleet/observed.ts'
import { RalphError } from '../../contract/errors.ts'
import type { Fact } from '../../loop/core/fact.ts'
import { postRequest } from '../../storage/sprint/requests.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { finishSprint, planFinish } from '../../host/finish-sprint.ts'
import { diffIterations, previewRestore, restoreFiles } from '../../storage/git/restore.ts'
import { withWorkTree } from '../../storage/state/work-tree-lock.ts'
import { requireSprintWorkspace } from '../sprint/changes.ts'
import { noResponseError } from '../sprint/requests.ts'
import type { Io } from '../io/io.ts'
import { recordFact } from '../sprint/record-fact.ts'
import { displayPath } from '../io/display-path.ts'
import { sprintName } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'
import type { SprintObserver } from './observe-sprints.ts'

/**
 * Requests to sprints that `ralph run` owns: the same ones that commands in another terminal can make. The backend is opened before
 * there are observers.
 */
export function createObservedSprints(observers: () => readonly SprintObserver[], io: Io): ObservedSprints {
  const observer = (sprintId: string) => observers().find(({ findFolder: find }) => find(sprintId) !== undefined)
  const findFolder = (sprintId: string): string => {
    const folder = observer(sprintId)?.findFolder(sprintId)
    if (folder !== undefined) return folder
    throw new RalphError('SPRINT_NOT_FOUND', 'the folder of the sprint does not exist, or is not in this project')
  }
  return {
    request: async (sprintId, request) => {
      await sendSprintRequest(findFolder(sprintId), request, io)
      await observer(sprintId)?.refresh(sprintId)
    },
    diff: async (sprintId, range) => diffIterations(await findWorkspace(findFolder(sprintId), io), range),
    previewRestore: async (sprintId, iteration) =>
      previewRestore(await findWorkspace(findFolder(sprintId), io), { iteration }),
    restore: async (sprintId, iteration) => {
      const folder = findFolder(sprintId)
      refuseRunning(folder)
      const workspace = await findWorkspace(folder, io)
      const { saved } = await withWorkTree(workspace.project, await sprintName(folder, io), () =>
        restoreFiles(workspace, { iteration }, io.now()),
      )
      return saved[0] ?? ''
    },
    planFinish: async (sprintId) => planFinish(await findWorkspace(findFolder(sprintId), io)),
    finish: async (sprintId, request) => {
      const folder = findFolder(sprintId)
      refuseRunning(folder)
      return finishSprint(await findWorkspace(folder, io), { ...request, env: io.env })
    },
  }
}

const findWorkspace = async (folder: string, io: Io) =>
  requireSprintWorkspace(folder, await requireProgress(folder, io), io)

function refuseRunning(folder: string): void {
  const owner = readSprintOwner(folder)
  if (owner === undefined) return
  throw new RalphError('SPRINT_LOCKED', `the sprint is running (${owner})`, { hint: 'pause it first' })
}

async function sendSprintRequest(folder: string, request: ObservedRequest, io: Io): Promise<void> {
  const shown = displayPath(folder, io)
  const owner = readSprintOwner(folder)
  switch (request.type) {
    case 'resume':
      if (owner !== undefined) return
      throw new RalphError('NOT_RUNNING', 'this sprint is not running', {
        hint: `resume it in a terminal: ralph run ${shown}`,
      })
    case 'stop':
      if (owner === undefined) throw new RalphError('NOT_RUNNING', 'this sprint is not running')
      return postToOwner(folder, request, owner, io)
    case 'tell':
      if (owner !== undefined) return postToOwner(folder, request, owner, io)
      return recordSprintFact(folder, { type: 'told', at: io.now(), text: request.text, now: false }, io)
    case 'answer':
      if ((await requireProgress(folder, io)).status !== 'needs-human') {
        throw new RalphError('NOT_RUNNING', 'there is no open question')
      }
      return recordSprintFact(folder, { type: 'answered', at: io.now(), answer: request.answer }, io)
  }
}

type PostedRequest = Extract<ObservedRequest, { type: 'stop' | 'tell' }>

async function postToOwner(folder: string, request: PostedRequest, owner: string, io: Io): Promise<void> {
  if (!(await postRequest(folder, request, io.now()))) throw noResponseError(owner, displayPath(folder, io))
}

const ownerTimeoutMs = 5000
const retryDelayMs = 100

/** The process that asked the question may still be exiting; a user can answer faster than that. */
async function recordSprintFact(folder: string, fact: Fact, io: Io): Promise<void> {
  const deadline = performance.now() + ownerTimeoutMs
  for (;;) {
    try {
      await recordFact(folder, fact, io)
      return
    } catch (error) {
      const isLocked = error instanceof RalphError && error.code === 'SPRINT_LOCKED'
      if (!isLocked || performance.now() > deadline) throw error
    }
    await sleep(retryDelayMs)
  }
}
