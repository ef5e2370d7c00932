import type { Diagnostic } from '../../compiler/parse/diagnostics.ts'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { appendText } from '../../platform/files/text-files.ts'
import type { Io } from '../io/io.ts'
import type { View } from '../view/view.ts'
import { annotationOf, annotationOfDiagnostic, annotationOfError, harmless } from './annotation.ts'
import { jobSummary } from './job-summary.ts'

/** How a run reports to GitHub Actions: plain lines, annotations, and a job summary. */
export interface CiOutput {
  /** For everything except annotations: no colour, and no line that could be read as a workflow command. */
  readonly io: Io
  /** The same view plus annotations. */
  readonly annotated: (view: View) => View
  readonly showDiagnostics: (diagnostics: readonly Diagnostic[]) => void
  readonly showError: (error: unknown) => void
  /** Writes to GITHUB_STEP_SUMMARY. A failed write is only a warning, because the result of the sprint matters more. */
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
