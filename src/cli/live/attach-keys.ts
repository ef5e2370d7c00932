import type { Progress } from '../../contract/progress.ts'
import type { SprintRun } from '../../runtime/run-sprint.ts'
import { diffIterations } from '../../storage/git/restore.ts'
import { resolveSprintWorkspace } from '../sprint/changes.ts'
import type { Io } from '../io/io.ts'
import { displayPath } from '../io/display-path.ts'
import { createKeyHandler, readKeys } from './keys.ts'
import type { LiveView } from './live-view.ts'

type KeyTarget = {
  readonly view: LiveView
  readonly run: SprintRun
  readonly sprintDir: string
  readonly progress: () => Progress
}

/** Connects the keys to a run. Returns a function that restores the terminal. */
export function attachKeys({ view, run, sprintDir, progress }: KeyTarget, io: Io): () => void {
  const stop = (as: 'paused' | 'interrupted', when: 'iteration' | 'turn' | 'now') =>
    run.send({ type: 'stop-requested', at: io.now(), as, when })
  return readKeys(
    createKeyHandler({
      pause: () => stop('paused', 'iteration'),
      stop: (when) => stop('interrupted', when),
      message: (text, when) => run.send({ type: 'told', at: io.now(), text, now: when === 'now' }),
      transcript: () => {
        const { currentIteration } = progress().stats
        view.footer(`transcript: ${displayPath(sprintDir, io)}/transcripts/iteration-${currentIteration}.jsonl`)
      },
      diff: () => {
        const range = { from: 0, to: progress().stats.currentIteration }
        diffIterations(resolveSprintWorkspace(sprintDir, progress(), io), range, ['--shortstat']).then(
          (text) => view.footer(text.trim() === '' ? 'no changes yet' : `since the start:${text}`),
          (error: unknown) => view.footer(error instanceof Error ? error.message : 'no diff'),
        )
      },
      notify: view.footer,
    }),
  )
}
