import type { Diagnostic } from '../../compiler/parse/diagnostics.ts'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { appendText } from '../../platform/files/text-files.ts'
import type { Io } from '../io/io.ts'
import type { View } from '../view/view.ts'
import { annotationOf, annotationOfDiagnostic, annotationOfError, harmless } from './annotation.ts'
import { jobSummary } from './job-summary.ts'

/** How a run is told to GitHub Actions: plain lines, annotations, and the summary of the job. */
export interface CiOutput {
  /** For everything but annotations: without colour, and nothing in it can be taken for a command of a workflow. */
  readonly io: Io
  /** The same view, and annotations with it. */
  readonly annotated: (view: View) => View
  readonly showDiagnostics: (diagnostics: readonly Diagnostic[]) => void
  readonly showError: (error: unknown) => void
  /** Written where GITHUB_STEP_SUMMARY says. One that cannot be written is a warning: the sprint is what matters. */
  readonly summarize: (progress: Progress, folder: string) => Promise<void>
}

const width = 160

export const isCi = (asked: boolean | undefined, env: Io['env']): boolean =>
  asked === true || env['GITHUB_ACTIONS'] === 'true'

export function ciOutput(io: Io): CiOutput {
  const tame: Io = {
    ...io,
    color: false,
    isTerminal: false,
    columns: () => width,
    print: (text) => io.print(harmless(text)),
    write: (text) => io.write(harmless(text)),
    printError: (text) => io.printError(harmless(text)),
  }
  return {
    io: tame,
    annotated: (view) => ({
      ...view,
      show(event) {
        view.show(event)
        const line = annotationOf(event)
        if (line !== undefined) io.print(line)
      },
    }),
    showDiagnostics: (diagnostics) => diagnostics.forEach((found) => io.print(annotationOfDiagnostic(found))),
    showError: (error) => {
      if (error instanceof RalphError) io.print(annotationOfError(error))
    },
    async summarize(progress, folder) {
      const file = io.env['GITHUB_STEP_SUMMARY']
      if (file === undefined || file === '') return
      await appendText(file, `${jobSummary(progress, folder)}\n`).catch((error: unknown) =>
        tame.printError(`! the job summary could not be written: ${error instanceof Error ? error.message : ''}`),
      )
    },
  }
}
