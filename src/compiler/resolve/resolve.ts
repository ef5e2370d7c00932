import { idPattern } from '../../contract/ids.ts'
import { Workflow } from '../../contract/workflow.ts'
import { checkWorkflow } from './check-workflow.ts'
import type { DecodedFile } from './compilation.ts'
import { decodeFile, unknownText } from '../parse/decode.ts'
import type { Source, AddDiagnostic } from '../parse/diagnostics.ts'
import { type DiagnosticTarget, errorAt, parseYaml } from '../parse/parse.ts'
import type { ErrorCode } from '../../contract/errors.ts'

/** A workflow that was found and decoded. */
export type LoadedWorkflow = DecodedFile<Workflow> & { readonly name: string }

/** `broken`: the file exists but is unusable, which has been reported. */
export type WorkflowLoadResult = LoadedWorkflow | 'broken' | undefined

/** Every workflow that the sprint refers to. Each file is read and checked once. */
export type WorkflowLibrary = { readonly load: (name: string) => WorkflowLoadResult }

export function createWorkflowLibrary(
  readWorkflow: (name: string) => Source | undefined,
  report: AddDiagnostic,
): WorkflowLibrary {
  const known = new Map<string, WorkflowLoadResult>()
  return {
    load(name) {
      if (known.has(name)) return known.get(name)
      const source = readWorkflow(name)
      const loaded = source && (readWorkflowFile(source, { report, syntax: 'WORKFLOW_PARSE_ERROR' }) ?? 'broken')
      const result = typeof loaded === 'object' ? { ...loaded, name } : loaded
      known.set(name, result)
      return result
    },
  }
}

/** Reads one workflow file: its syntax, its shape, and checks that need no other file. */
export function readWorkflowFile(
  source: Source,
  { report, syntax }: { readonly report: AddDiagnostic; readonly syntax: ErrorCode },
): DecodedFile<Workflow> | undefined {
  const { parsed, diagnostics } = parseYaml(source, syntax)
  for (const diagnostic of diagnostics) report(diagnostic)
  const value = parsed && decodeFile(parsed, { schema: Workflow, file: 'workflow', report })
  if (!value) return undefined
  checkWorkflow({ value, parsed }, report)
  return { value, parsed }
}

type WorkflowReference = {
  readonly name: string
  /** Where the name is written. */
  readonly at: DiagnosticTarget
  readonly missing:
    | 'MAIN_WORKFLOW_NOT_FOUND'
    | 'PHASE_WORKFLOW_NOT_FOUND'
    | 'ITEM_WORKFLOW_NOT_FOUND'
    | 'WORKFLOW_NOT_FOUND'
}

/** Resolves a workflow name; undefined if the workflow is unusable, which has been reported. */
export function resolveWorkflow(
  { name, at, missing }: WorkflowReference,
  library: WorkflowLibrary,
  report: AddDiagnostic,
): LoadedWorkflow | undefined {
  if (name === unknownText) return undefined
  if (!isWorkflowName(name)) {
    const message = `"${name}" is not the name of a workflow`
    report(errorAt(at, { code: 'INVALID_WORKFLOW_NAME', message, hint: 'use the name of its file, without a folder' }))
    return undefined
  }
  const loaded = library.load(name)
  if (loaded === undefined) {
    const hint = `create .claude/workflows/${name}.yaml`
    report(errorAt(at, { code: missing, message: `There is no workflow "${name}"`, hint }))
  }
  return typeof loaded === 'object' ? loaded : undefined
}

/** Names become paths, so only plain names are looked up. */
const isWorkflowName = (name: string): boolean => idPattern.test(name) && !name.includes('..')
