import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import { createRedactor, type Redact } from '../../contract/redact.ts'
import type { Fact } from '../../loop/core/fact.ts'
import { exists } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import type { SprintRun } from '../../runtime/run-sprint.ts'
import { postRequest, type RunRequest } from '../../storage/sprint/requests.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { createJournalReader } from './watch-journal.ts'
import { replayRecord } from './watch-events.ts'
import { runningAttempts, createTranscriptWatch } from './watch-transcript.ts'

const pollIntervalMs = 250
/** Polls of the files per poll of the lock. */
const pollsPerOwnerCheck = 4

export type WatchOptions = {
  readonly sprintDir: string
  readonly progress: Progress
  /** `at`: when the event happened, possibly long ago. */
  readonly show: (event: SprintEvent, at: number) => void
  readonly onProgress: (progress: Progress) => void
  /** Secrets to redact from the agent's messages; keys of a known form by default. */
  readonly redact?: Redact
  /** Ends the watcher, never the sprint. */
  readonly signal: AbortSignal
}

export type WatchResult = { readonly progress: Progress; readonly owner: 'gone' | 'running' }

/** Shows a sprint that another process runs until that process is gone or the watcher exits. Only reads. */
export async function watchSprint(watching: WatchOptions): Promise<WatchResult> {
  const { sprintDir, show, onProgress, signal, redact = createRedactor() } = watching
  const journal = createJournalReader(sprintDir, 'last')
  const transcripts = createTranscriptWatch(sprintDir, redact, show)
  let { progress } = watching
  const take = async () => {
    for (const record of await journal.look()) {
      const seen = replayRecord(progress, record)
      if (!seen) continue
      const tell = seen.progress.rev > watching.progress.rev
      // The agent's last messages precede the result of the attempt, and no later poll reads them.
      if (tell && (seen.events.length > 0 || hasEndedAttempt(progress, seen.progress))) await transcripts.look(progress)
      progress = seen.progress
      onProgress(progress)
      if (tell) for (const event of seen.events) show(event, seen.at)
    }
    await transcripts.look(progress)
  }
  try {
    for (let looks = 1; !signal.aborted; looks++) {
      const isGone = looks % pollsPerOwnerCheck === 0 && isSprintOwnerGone(sprintDir, progress)
      await take()
      if (isGone) return { progress, owner: 'gone' }
      await sleep(pollIntervalMs, undefined, { signal }).catch(() => {})
    }
    return { progress, owner: 'running' }
  } finally {
    await transcripts.close()
  }
}

/** Attempts that run in the first progress and not in the second. */
function hasEndedAttempt(before: Progress, after: Progress): boolean {
  const still = new Set(runningAttempts(after).map(({ number, attempt }) => `${number}-${attempt}`))
  return runningAttempts(before).some(({ number, attempt }) => !still.has(`${number}-${attempt}`))
}

/**
 * An agent may have deleted the lock with other files, so a sprint in progress without a lock still counts as running.
 */
const isSprintOwnerGone = (sprintDir: string, { status }: Progress): boolean =>
  readSprintOwner(sprintDir) === undefined &&
  (status !== 'in-progress' || exists(join(stateFolder(sprintDir), '.lock')))

/** Controls a run in another process through its request files. */
export function createRemoteRun(sprintDir: string, say: (text: string) => void, now: () => number): SprintRun {
  const unheard = () =>
    say('the process that runs the sprint does not respond; it will find the request when it continues')
  return {
    send: (fact) => {
      const request = toRequest(fact)
      if (request) postRequest(sprintDir, request, now()).then((taken) => taken || unheard(), unheard)
    },
    done: new Promise(() => {}),
  }
}

function toRequest(fact: Fact): RunRequest | undefined {
  if (fact.type === 'stop-requested') return { type: 'stop', as: fact.as, when: fact.when }
  if (fact.type === 'stop-withdrawn') return { type: 'withdraw-stop' }
  return fact.type === 'told' ? { type: 'tell', text: fact.text, now: fact.now } : undefined
}
