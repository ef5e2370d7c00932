import { errorMessage } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { SprintRun } from '../../runtime/run-sprint.ts'
import type { Io } from '../io/io.ts'
import { createKeyHandler, readKeys } from './keys.ts'
import type { LiveView } from './live-view.ts'
import { pressOverlayKey, sanitizeOverlay, type OverlayContent, type OverlayLayer } from './overlay.ts'
import { createSprintBrowser } from './sprint-browser.ts'

type KeyTarget = {
  readonly view: LiveView
  readonly run: SprintRun
  readonly sprintDir: string
  readonly progress: () => Progress
  /** What `q` does. */
  readonly leave: () => void
}

/** Connects the keys to a run. Returns a function that restores the terminal. */
export function attachKeys({ view, run, sprintDir, progress, leave }: KeyTarget, io: Io): () => void {
  const browser = createSprintBrowser({ sprintDir, progress }, io)
  const overlays = createOverlayStack(view, io)
  const stop = (as: 'paused' | 'interrupted', when: 'iteration' | 'turn' | 'now') =>
    run.send({ type: 'stop-requested', at: io.now(), as, when })
  let isPauseSent = false
  const onKey = createKeyHandler({
    pause: () => {
      // The progress shows the request only once the run has recorded it.
      const isPausing = isPauseSent || progress().stopRequested !== undefined
      isPauseSent = !isPausing
      if (isPausing) run.send({ type: 'stop-withdrawn', at: io.now() })
      else stop('paused', 'iteration')
      return isPausing ? 'the pause is withdrawn' : 'pausing after this iteration; p again withdraws it'
    },
    stop: (when) => stop('interrupted', when),
    message: (text, when) => run.send({ type: 'told', at: io.now(), text, now: when === 'now' }),
    browse: () => overlays.open(browser.root),
    transcript: () => overlays.open(browser.transcript),
    diff: () => overlays.open(browser.diff),
    help: () => overlays.open(async () => helpContent),
    leave,
    notify: view.footer,
  })
  return readKeys((key) => {
    if (overlays.press(key) === 'passed') onKey(key)
  })
}

const helpContent: OverlayContent = {
  kind: 'text',
  title: 'keys',
  isHelp: true,
  lines: [
    'Enter ↑ ↓ open an iteration, a step or the changes',
    'l transcript of the current iteration',
    'd changes since the start',
    'p pause after this iteration; p again withdraws it',
    's stop: i after the iteration, t after the turn, n now',
    't message the agent with the next prompt',
    'q leave',
    'Ctrl-C in ralph run: pause, twice: stop now',
    'Ctrl-C in ralph watch: exit, the sprint continues',
    '',
    'in a text: ↑ ↓ space b g G scroll, / searches, n finds the next, Esc goes back',
  ],
}

/** The overlays that cover the live view, the last one on top. */
function createOverlayStack(view: LiveView, io: Io) {
  const stack: OverlayLayer[] = []
  const draw = () => view.cover(stack.at(-1))
  const show = async (load: () => Promise<OverlayContent>) => {
    stack.push({ content: sanitizeOverlay(await load()), position: 0 })
    draw()
  }
  const open = (load: () => Promise<OverlayContent>) =>
    void show(load).catch((error: unknown) => view.footer(errorMessage(error)))
  return {
    open,
    /** `passed`: no overlay wants the key. */
    press(key: string): 'taken' | 'passed' {
      const layer = stack.at(-1)
      if (!layer) return 'passed'
      const step = pressOverlayKey(layer, key, { columns: io.columns(), rows: io.rows() })
      if (step.do === 'open') open(step.entry.open)
      else if (step.do === 'show') stack[stack.length - 1] = step.layer
      else if (step.do === 'close') stack.length = 0
      else stack.pop()
      draw()
      return step.do === 'pass' ? 'passed' : 'taken'
    },
  }
}
