import { readFileSync } from 'node:fs'
import type { CompileInput } from '../../src/compiler/resolve/compilation.ts'
import { compile } from '../../src/compiler/compile.ts'
import { type Diagnostic, isError } from '../../src/compiler/parse/diagnostics.ts'
import type { Progress } from '../../src/contract/progress.ts'

export type Files = Readonly<Record<string, string>>
type Options = Partial<Omit<CompileInput, 'sprint' | 'readWorkflow'>>

export const bundledRalph = readFileSync(new URL('../../assets/workflows/ralph.yaml', import.meta.url), 'utf8')

/** Compiles a SPRINT.yaml with workflows by name; `ralph` is the bundled one by default. */
export function compiling(sprint: string, workflows: Files = {}, options: Options = {}) {
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
export function compiled(sprint: string, workflows: Files = {}, options: Options = {}): Progress {
  const { progress, diagnostics } = compiling(sprint, workflows, options)
  if (!progress) throw new Error(`does not compile: ${diagnostics.map(inShort).join(', ')}`)
  return progress
}

export const errorsOf = (diagnostics: readonly Diagnostic[]): string[] => diagnostics.filter(isError).map(inShort)

export const warningsOf = (diagnostics: readonly Diagnostic[]): string[] =>
  diagnostics.filter((diagnostic) => !isError(diagnostic)).map(inShort)

/** `CODE file:line:column` */
const inShort = ({ code, place }: Diagnostic): string =>
  place ? `${code} ${place.file}:${place.line}:${place.column}` : code
