import type { Diagnostic } from '../../compiler/parse/diagnostics.ts'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { appendText } from '../../platform/files/text-files.ts'
import type { Io } from '../io/io.ts'
import type { RunView } from '../view/view.ts'
import { annotateEvent, annotateDiagnostic, annotateError, escapeWorkflowCommand } from './annotation.ts'
import { formatJobSummary } from './job-summary.ts'

/** How a run reports to GitHub Actions: plain lines, annotations, and a job summary. */
export interface CiOutput {
  /** For everything except annotations: no colour, and no line that could be read as a workflow command. */
  readonly io: Io
  /** The same view plus annotations. */
  readonly annotated: (view: RunView) => RunView
  readonly showDiagnostics: (diagnostics: readonly Diagnostic[]) => void
  readonly showError: (error: unknown) => void
  /** Writes to GITHUB_STEP_SUMMARY. A failed write is only a warning, because the result of the sprint matters more. */
  readonly summarize: (progress: Progress, folder: string) => Promise<void>
}

const width = 160

export const isCi = (requested: boolean | undefined, env: Io['env']): boolean =>
  requested === true || env['GITHUB_ACTIONS'] === 'true'

export function createCiOutput(io: Io): CiOutput {
  const tame: Io = {
    ...io,
    useColor: false,
    canRedraw: false,
    canAsk: false,
    columns: () => width,
    print: (text) => io.print(escapeWorkflowCommand(text)),
    write: (text) => io.write(escapeWorkflowCommand(text)),
    printError: (text) => io.printError(escapeWorkflowCommand(text)),
  }
  return {
    io: tame,
    annotated: (view) => ({
      ...view,
      show(event) {
        view.show(event)
        const line = annotateEvent(event)
        if (line !== undefined) io.print(line)
      },
    }),
    showDiagnostics: (diagnostics) => diagnostics.forEach((found) => io.print(annotateDiagnostic(found))),
    showError: (error) => {
      if (error instanceof RalphError) io.print(annotateError(error))
    },
    async summarize(progress, folder) {
      const file = io.env['GITHUB_STEP_SUMMARY']
      if (file === undefined || file === '') return
      await appendText(file, `${formatJobSummary(progress, folder)}\n`).catch((error: unknown) =>
        tame.printError(`! the job summary could not be written: ${errorMessage(error)}`),
      )
    },
  }
}
