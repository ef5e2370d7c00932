import { idPattern } from '../contract/ids.ts'
import { Workflow } from '../contract/workflow.ts'
import { decode } from './decode.ts'
import type { Diagnostic, Source } from './diagnostics.ts'
import { parse, type Parsed } from './parse.ts'

/** A workflow that was found; `workflow` is absent when its file is too broken to be used. */
export type LoadedWorkflow = {
  readonly name: string
  readonly parsed?: Parsed
  readonly workflow?: Workflow
}

export type Library = {
  /** undefined: there is no workflow of that name. Every file is read and judged once, however often it is asked for. */
  readonly load: (name: string) => LoadedWorkflow | undefined
  /** What was found in the files loaded so far. */
  readonly diagnostics: () => readonly Diagnostic[]
}

export function openLibrary(readWorkflow: (name: string) => Source | undefined): Library {
  const loaded = new Map<string, LoadedWorkflow | undefined>()
  const diagnostics: Diagnostic[] = []
  return {
    load(name) {
      if (loaded.has(name)) return loaded.get(name)
      const source = readWorkflow(name)
      const found = source && loadWorkflow(name, source)
      diagnostics.push(...(found?.diagnostics ?? []))
      loaded.set(name, found?.loaded)
      return found?.loaded
    },
    diagnostics: () => diagnostics,
  }
}

/** Names become paths, so only plain names are looked up. */
export const isWorkflowName = (name: string): boolean => idPattern.test(name) && !name.includes('..')

function loadWorkflow(name: string, source: Source) {
  const { parsed, diagnostics } = parse(source, 'WORKFLOW_PARSE_ERROR')
  if (!parsed) return { loaded: { name }, diagnostics }
  const decoded = decode(Workflow, parsed, 'workflow')
  const loaded = { name, parsed, ...(decoded.value && { workflow: decoded.value }) }
  return { loaded, diagnostics: decoded.diagnostics }
}
