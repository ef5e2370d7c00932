import { idPattern } from '../../contract/ids.ts'
import { Workflow } from '../../contract/workflow.ts'
import { checkWorkflow } from './check-workflow.ts'
import type { FileOf } from './compilation.ts'
import { decode, unknownText } from '../parse/decode.ts'
import type { Source, Tell } from '../parse/diagnostics.ts'
import { type At, errorAt, parse } from '../parse/parse.ts'
import type { ErrorCode } from '../../contract/errors.ts'

/** A workflow that was found and decoded. */
export type LoadedWorkflow = FileOf<Workflow> & { readonly name: string }

/** `broken`: the file exists but is unusable, which has been reported. */
export type Loaded = LoadedWorkflow | 'broken' | undefined

/** Every workflow that the sprint refers to. Each file is read and checked once. */
export type Library = { readonly load: (name: string) => Loaded }

export function openLibrary(readWorkflow: (name: string) => Source | undefined, tell: Tell): Library {
  const known = new Map<string, Loaded>()
  return {
    load(name) {
      if (known.has(name)) return known.get(name)
      const source = readWorkflow(name)
      const loaded = source && (readOne(source, { tell, syntax: 'WORKFLOW_PARSE_ERROR' }) ?? 'broken')
      const result = typeof loaded === 'object' ? { ...loaded, name } : loaded
      known.set(name, result)
      return result
    },
  }
}

/** Reads one workflow file: its syntax, its shape, and checks that need no other file. */
export function readOne(
  source: Source,
  { tell, syntax }: { readonly tell: Tell; readonly syntax: ErrorCode },
): FileOf<Workflow> | undefined {
  const { parsed, diagnostics } = parse(source, syntax)
  for (const diagnostic of diagnostics) tell(diagnostic)
  const value = parsed && decode(parsed, { schema: Workflow, file: 'workflow', tell })
  if (!value) return undefined
  checkWorkflow({ value, parsed }, tell)
  return { value, parsed }
}

type Reference = {
  readonly name: string
  /** Where the name is written. */
  readonly at: At
  readonly missing:
    | 'MAIN_WORKFLOW_NOT_FOUND'
    | 'PHASE_WORKFLOW_NOT_FOUND'
    | 'ITEM_WORKFLOW_NOT_FOUND'
    | 'WORKFLOW_NOT_FOUND'
}

/** Resolves a workflow name; undefined if the workflow is unusable, which has been reported. */
export function resolve({ name, at, missing }: Reference, library: Library, tell: Tell): LoadedWorkflow | undefined {
  if (name === unknownText) return undefined
  if (!isWorkflowName(name)) {
    const message = `"${name}" is not the name of a workflow`
    tell(errorAt(at, { code: 'INVALID_WORKFLOW_NAME', message, hint: 'use the name of its file, without a folder' }))
    return undefined
  }
  const loaded = library.load(name)
  if (loaded === undefined) {
    const hint = `create .claude/workflows/${name}.yaml`
    tell(errorAt(at, { code: missing, message: `There is no workflow "${name}"`, hint }))
  }
  return typeof loaded === 'object' ? loaded : undefined
}

/** Names become paths, so only plain names are looked up. */
const isWorkflowName = (name: string): boolean => idPattern.test(name) && !name.includes('..')
