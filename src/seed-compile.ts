import { resolve } from 'node:path'
import { compile as compileTexts } from './compiler/compile.ts'
import { isErrorDiagnostic, type Diagnostic } from './compiler/parse/diagnostics.ts'
import type { CompileInput, CompileResult } from './compiler/resolve/compilation.ts'
import { formatPlace, RalphError } from './contract/errors.ts'
import type { Progress } from './contract/progress.ts'
import type { CompiledProgress, CompilerError } from './seed-names.ts'
import { encodeShownProgress } from './storage/state/shown-progress.ts'

/** A sprint on disk. */
export type CompilerConfig = {
  /** Contains SPRINT.yaml. */
  readonly sprintDir: string
  /** Default: `.claude/workflows` of the project. Bundled workflows come last. */
  readonly workflowsDir?: string | undefined
  /** Treat unknown template variables as errors. */
  readonly strict?: boolean | undefined
}

export type CompilerResult = {
  readonly success: boolean
  /** With the fields as in PROGRESS.yaml; absent if there is an error. */
  readonly progress?: CompiledProgress
  readonly errors: CompilerError[]
  readonly warnings: string[]
}

/** Compiles a sprint on disk, with the signature of seed 004. Writes nothing. */
export function compile(config: CompilerConfig): Promise<CompilerResult>
/** Compiles texts, without any file. */
export function compile(input: CompileInput): CompileResult
export function compile(source: CompilerConfig | CompileInput): Promise<CompilerResult> | CompileResult {
  return 'sprintDir' in source ? compileFolder(source) : compileTexts(source)
}

async function compileFolder({ sprintDir, workflowsDir, strict }: CompilerConfig): Promise<CompilerResult> {
  // It knows the drivers and the bundled workflows, which a program that compiles texts does not need.
  const [{ compileSprint }, { processIo }] = await Promise.all([
    import('./cli/sprint/compile-sprint.ts'),
    import('./cli/io/io.ts'),
  ])
  const io = { ...processIo, cwd: process.cwd() }
  try {
    return toResult(await compileSprint(resolve(io.cwd, sprintDir), { workflows: workflowsDir, strict }, io))
  } catch (error) {
    if (!(error instanceof RalphError)) throw error
    return { success: false, errors: [toCompilerError(error)], warnings: [] }
  }
}

const toResult = ({ progress, diagnostics }: CompileResult): CompilerResult => ({
  success: progress !== undefined,
  ...(progress && { progress: encodeCompiledProgress(progress) }),
  errors: diagnostics.filter(isErrorDiagnostic).map(toCompilerError),
  warnings: diagnostics.filter((diagnostic) => !isErrorDiagnostic(diagnostic)).map(({ message }) => message),
})

/** With the fields as in PROGRESS.yaml. */
export function encodeCompiledProgress(progress: Progress): CompiledProgress {
  const encoded: unknown = encodeShownProgress(progress)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the encoding of Progress, with the fields that it derives
  return encoded as CompiledProgress
}

const toCompilerError = ({ code, message, hint, place }: Diagnostic | RalphError): CompilerError => ({
  code,
  message,
  ...(hint !== undefined && { hint }),
  ...(place && { path: formatPlace(place) }),
})
