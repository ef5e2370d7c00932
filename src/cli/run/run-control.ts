import type { Fact } from '../../loop/core/fact.ts'
import type { SprintRun } from '../../runtime/run-sprint.ts'
import { watchRequests, type RunRequest } from '../../storage/sprint/requests.ts'
import { createFolder, exists, readTextIfExists } from '../../platform/files/files.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { hasPauseFile, sprintPath } from '../../storage/state/sprint-folder.ts'
import type { SprintStore } from '../../storage/sprint/sprint-store.ts'
import type { Io } from '../io/io.ts'
import type { RunView } from '../view/view.ts'

const pollIntervalMs = 500

type RunControlOptions = {
  readonly sprintDir: string
  readonly run: SprintRun
  readonly store: SprintStore
  readonly view: Pick<RunView, 'show'>
}

/** Accepts every request to a running sprint: commands in other terminals, edits of PROGRESS.yaml, a file PAUSE. */
export async function acceptRequests({ sprintDir, run, store, view }: RunControlOptions, io: Io): Promise<() => void> {
  const stopRequests = await watchRequests(sprintDir, (request) => run.send(requestToFact(request, io.now())))
  store.onEdited(({ edits, refused }) => run.send({ type: 'edited', at: io.now(), edits, refused }))
  const checkPauseFile = watchPauseFile(sprintDir, run, view, io)
  const checkSprintFile = await watchSprintFile(sprintDir, view)
  const timer = setInterval(() => {
    checkPauseFile()
    void checkSprintFile()
    void store.checkForEdits().catch(() => {})
  }, pollIntervalMs).unref()
  return () => {
    stopRequests()
    clearInterval(timer)
    void checkSprintFile()
  }
}

/** An agent may delete the sprint folder. The state is elsewhere, so only SPRINT.yaml would be lost: it is written back. */
async function watchSprintFile(sprintDir: string, view: RunControlOptions['view']): Promise<() => Promise<void>> {
  const file = sprintPath(sprintDir)
  const text = await readTextIfExists(file)
  return async () => {
    if (text === undefined || exists(file)) return
    await createFolder(sprintDir)
      .then(() => writeFileAtomic(file, text))
      .catch(() => {})
    view.show({
      type: 'note',
      level: 'warning',
      text: 'SPRINT.yaml was deleted while the sprint ran; Ralph wrote it back',
    })
  }
}

/** A user may put a file called PAUSE into the sprint folder. It stays there until the user removes it. */
function watchPauseFile(sprintDir: string, run: SprintRun, view: RunControlOptions['view'], io: Io): () => void {
  let isAsked = false
  return () => {
    if (isAsked || !hasPauseFile(sprintDir)) return
    isAsked = true
    view.show({ type: 'note', level: 'info', text: 'found PAUSE in the sprint folder; pausing after this iteration' })
    run.send({ type: 'stop-requested', at: io.now(), as: 'paused', when: 'iteration' })
  }
}

function requestToFact(request: RunRequest, at: number): Fact {
  switch (request.type) {
    case 'stop':
      return { type: 'stop-requested', at, as: request.as, when: request.when }
    case 'withdraw-stop':
      return { type: 'stop-withdrawn', at }
    case 'tell':
      return { type: 'told', at, text: request.text, now: request.now }
  }
}

/** The first Ctrl-C pauses after the iteration; a second one, SIGTERM or a closed output ends the attempt immediately. */
export function handleStopSignals({ run, view }: Pick<RunControlOptions, 'run' | 'view'>, io: Io): () => void {
  let signalCount = 0
  const onSignal = (name: NodeJS.Signals) => {
    signalCount++
    if (name === 'SIGINT' && signalCount === 1) {
      view.show({ type: 'note', level: 'info', text: 'pausing after this iteration; Ctrl-C again stops now' })
      run.send({ type: 'stop-requested', at: io.now(), as: 'paused', when: 'iteration' })
    } else {
      run.send({ type: 'stop-requested', at: io.now(), as: 'interrupted', when: 'now' })
    }
  }
  const onClosed = () => {
    io.printError('the output is closed: stopping the sprint; "ralph run" resumes it')
    run.send({ type: 'stop-requested', at: io.now(), as: 'interrupted', when: 'now' })
  }
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
  for (const name of signals) process.on(name, onSignal)
  const { outputClosed } = io
  outputClosed.addEventListener('abort', onClosed)
  if (outputClosed.aborted) onClosed()
  return () => {
    for (const name of signals) process.off(name, onSignal)
    outputClosed.removeEventListener('abort', onClosed)
  }
}
