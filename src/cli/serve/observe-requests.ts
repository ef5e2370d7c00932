import { setTimeout as sleep } from 'node:timers/promises'
import type { Observed, ObservedRequest } from '../../backend/fleet/ports.ts'
import { RalphError } from '../../contract/errors.ts'
import type { Fact } from '../../loop/fact.ts'
import { postRequest } from '../../storage/sprint/requests.ts'
import { ownerOf } from '../../storage/state/sprint-lock.ts'
import { diffOf, restore } from '../../storage/git/workspace.ts'
import { workspaceOf } from '../commands/diff.ts'
import { noAnswer } from '../commands/stop.ts'
import type { Io } from '../io/io.ts'
import { recordFact } from '../sprint/record-fact.ts'
import { shownPath } from '../io/display-path.ts'
import { requireProgress } from '../sprint/sprint-state.ts'
import type { Observer } from './observe-sprints.ts'

/** Requests to sprints that `ralph run` owns: the same ones that commands in another terminal can make. */
export function observedSprints(observer: () => Observer | undefined, io: Io): Observed {
  const folderOf = (sprintId: string): string => {
    const folder = observer()?.folderOf(sprintId)
    if (folder !== undefined) return folder
    throw new RalphError('SPRINT_NOT_FOUND', 'the folder of the sprint does not exist, or is not in this project')
  }
  return {
    request: async (sprintId, request) => {
      await ask(folderOf(sprintId), request, io)
      await observer()?.look(sprintId)
    },
    diff: async (sprintId, range) => {
      const folder = folderOf(sprintId)
      return diffOf(workspaceOf(folder, await requireProgress(folder, io), io), range)
    },
    restore: async (sprintId, iteration) => {
      const folder = folderOf(sprintId)
      const owner = ownerOf(folder)
      if (owner !== undefined) {
        throw new RalphError('SPRINT_LOCKED', `the sprint is running (${owner})`, { hint: 'pause it first' })
      }
      const progress = await requireProgress(folder, io)
      const saved = await restore(workspaceOf(folder, progress, io), iteration, io.now())
      return `refs/ralph/${progress.sprintId}/${saved}`
    },
  }
}

async function ask(folder: string, request: ObservedRequest, io: Io): Promise<void> {
  const shown = shownPath(folder, io)
  const owner = ownerOf(folder)
  switch (request.type) {
    case 'resume':
      if (owner !== undefined) return
      throw new RalphError('NOT_RUNNING', 'this sprint is not running', {
        hint: `resume it in a terminal: ralph run ${shown}`,
      })
    case 'stop':
      if (owner === undefined) throw new RalphError('NOT_RUNNING', 'this sprint is not running')
      return post(folder, request, owner, io)
    case 'tell':
      if (owner !== undefined) return post(folder, request, owner, io)
      return record(folder, { type: 'told', at: io.now(), text: request.text, now: false }, io)
    case 'answer':
      if ((await requireProgress(folder, io)).status !== 'needs-human') {
        throw new RalphError('NOT_RUNNING', 'there is no open question')
      }
      return record(folder, { type: 'answered', at: io.now(), answer: request.answer }, io)
  }
}

type Posted = Extract<ObservedRequest, { type: 'stop' | 'tell' }>

async function post(folder: string, request: Posted, owner: string, io: Io): Promise<void> {
  if (!(await postRequest(folder, request, io.now()))) throw noAnswer(owner, shownPath(folder, io))
}

const patienceMs = 5000
const againMs = 100

/** The process that asked the question may still be exiting; a user can answer faster than that. */
async function record(folder: string, fact: Fact, io: Io): Promise<void> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      await recordFact(folder, fact, io)
      return
    } catch (error) {
      const isLocked = error instanceof RalphError && error.code === 'SPRINT_LOCKED'
      if (!isLocked || performance.now() > deadline) throw error
    }
    await sleep(againMs)
  }
}
