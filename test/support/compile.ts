import { readFileSync } from 'node:fs'
import type { CompileInput } from '../../src/compiler/resolve/compilation.ts'
import { compile } from '../../src/compiler/compile.ts'
import { type Diagnostic, isErrorDiagnostic } from '../../src/compiler/parse/diagnostics.ts'
import type { Progress } from '../../src/contract/progress.ts'

export type Files = Readonly<Record<string, string>>
type CompileTestOptions = Partial<Omit<CompileInput, 'sprint' | 'readWorkflow'>>

export const bundledRalph = readFileSync(new URL('../../assets/workflows/ralph.yaml', import.meta.url), 'utf8')

/** Compiles a SPRINT.yaml with workflows by name; `ralph` is the bundled one by default. */
export function compileTest(sprint: string, workflows: Files = {}, options: CompileTestOptions = {}) {
  const files = new Map([['ralph', bundledRalph], ...Object.entries(workflows)])
  return compile({
    sprint: { file: 'SPRINT.yaml', text: sprint },
    readWorkflow: (name) => {
      const text = files.get(name)
      return text === undefined ? undefined : { file: `${name}.yaml`, text }
    },
    defaultSprintId: '2026-03-04_big_thing',
    at: Date.UTC(2026, 2, 5),
    ...options,
  })
}

/** The progress of a sprint that must compile without an error. */
export function compileProgress(sprint: string, workflows: Files = {}, options: CompileTestOptions = {}): Progress {
  const { progress, diagnostics } = compileTest(sprint, workflows, options)
  if (!progress) throw new Error(`does not compile: ${diagnostics.map(formatDiagnostic).join(', ')}`)
  return progress
}

export const listErrors = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.filter(isErrorDiagnostic).map(formatDiagnostic)

export const listWarnings = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.filter((diagnostic) => !isErrorDiagnostic(diagnostic)).map(formatDiagnostic)

/** `CODE file:line:column` */
const formatDiagnostic = ({ code, place }: Diagnostic): string =>
  place ? `${code} ${place.file}:${place.line}:${place.column}` : code
