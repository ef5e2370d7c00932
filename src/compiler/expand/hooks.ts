import { hookVariables, findUnknownHookVariables } from '../../contract/prompt-variables.ts'
import type { Hook, HookOverride } from '../../contract/settings.ts'
import type { Sprint } from '../../contract/sprint.ts'
import { checkId } from '../resolve/check-id.ts'
import type { Compilation } from '../resolve/compilation.ts'
import { unknownText } from '../parse/decode.ts'
import { omitUndefined } from '../resolve/omit-undefined.ts'
import type { Diagnostic, AddDiagnostic } from '../parse/diagnostics.ts'
import { readHookPrompts } from './hook-workflow.ts'
import { type DiagnosticTarget, errorAt, type Path } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'

/** A hook, and the place to report problems of its action at. */
type PlacedHook = { readonly hook: Hook; readonly at: DiagnosticTarget }

/** Merges the hooks of the workflow with those of SPRINT.yaml, in written order. */
export function mergeHooks(compilation: Compilation): Hook[] {
  const { sprint, report } = compilation
  const hooks = readWorkflowHooks(compilation)
  const seenIds = new Set<string>()
  for (const entry of listOverrides(sprint.value)) {
    const { id, path } = entry
    const at = { parsed: sprint.parsed, path }
    if (id === undefined)
      report(errorAt(at, { code: 'MISSING_HOOK_ID', message: 'Per-iteration hook must have an id' }))
    else if (seenIds.has(id)) report(createDuplicateHook(at, id))
    else if (entry.fields.id !== undefined && entry.fields.id !== id)
      report(errorAt(at, { code: 'INVALID_HOOK', message: `The override of "${id}" cannot give it another id` }))
    else {
      seenIds.add(id)
      const merged = applyOverride(hooks.get(id), { ...entry, id, at })
      if (merged) hooks.set(id, merged)
      else report(createUnknownHook(at, id, hooks))
    }
  }
  return [...hooks.values()].map((placed) => finishHook(placed, compilation))
}

function readWorkflowHooks({ main, report }: Compilation): Map<string, PlacedHook> {
  const hooks = new Map<string, PlacedHook>()
  for (const [index, hook] of (main.value.perIterationHooks ?? []).entries()) {
    const at = { parsed: main.parsed, path: ['per-iteration-hooks', index] }
    if (hooks.has(hook.id)) report(createDuplicateHook(at, hook.id))
    else hooks.set(hook.id, { hook, at })
  }
  return hooks
}

type HookOverrideEntry = {
  readonly id: string | undefined
  readonly form: 'map' | 'list'
  readonly fields: HookOverride
  readonly path: Path
}

function listOverrides({ perIterationHooks }: Sprint): HookOverrideEntry[] {
  const root = 'per-iteration-hooks'
  if (perIterationHooks === undefined) return []
  if (Array.isArray(perIterationHooks))
    return perIterationHooks.map((fields, index) => ({ id: fields.id, form: 'list', fields, path: [root, index] }))
  return Object.entries(perIterationHooks).map(([id, fields]) => ({ id, form: 'map', fields, path: [root, id] }))
}

type IdentifiedOverride = HookOverrideEntry & { readonly id: string; readonly at: DiagnosticTarget }

const newHook = { parallel: true, enabled: true, onFail: 'record' } as const

/** Returns undefined if there is no hook to override and no complete hook to add. A new action replaces the old one. */
function applyOverride(
  known: PlacedHook | undefined,
  { id, form, fields, at }: IdentifiedOverride,
): PlacedHook | undefined {
  const acts = listActions(fields).length > 0
  if (!known && (form === 'map' || !acts)) return undefined
  const base = known?.hook ?? { ...newHook, id }
  const { prompt, workflow, run, fallbackPrompt, ...rest } = base
  const kept = acts ? rest : { ...rest, ...omitUndefined({ prompt, workflow, run, fallbackPrompt }) }
  return { hook: { ...kept, ...omitUndefined(fields), id }, at: acts || !known ? at : known.at }
}

const listActions = ({ prompt, workflow, run }: HookOverride): string[] =>
  Object.entries({ prompt, workflow, run }).flatMap(([name, value]) => (value === undefined ? [] : [name]))

/** Checks the action of a hook, and replaces a project workflow by its prompts. */
function finishHook({ hook, at }: PlacedHook, compilation: Compilation): Hook {
  const { report, input } = compilation
  checkId(hook.id, at, report)
  checkActions({ hook, at }, report)
  const calls = hook.workflow === undefined ? [] : readHookPrompts({ hook, at }, compilation)
  for (const raw of findUnknownHookVariables(hook.prompt ?? ''))
    report({
      ...errorAt(
        { ...at, path: [...at.path, 'prompt'], part: { text: raw } },
        {
          code: 'UNRESOLVED_VARIABLES',
          message: `${raw} is not a variable of hook prompts and stays unchanged`,
          ...didYouMean(
            raw,
            hookVariables.map((name) => `$${name}`),
          ),
        },
      ),
      severity: input.strict === true ? 'error' : 'warning',
    })
  if (calls.length > 1) return { ...hook, calls }
  return { ...hook, ...omitUndefined({ prompt: calls[0] ?? hook.prompt }) }
}

function checkActions({ hook, at }: PlacedHook, report: AddDiagnostic): void {
  const actions = listActions(hook)
  if (actions.length === 0 && hook.id !== unknownText)
    report(
      errorAt(at, {
        code: 'RALPH_INVALID_HOOK',
        message: `Per-iteration hook must have workflow or prompt, or run: "${hook.id}" has none of them`,
      }),
    )
  if (actions.length > 1)
    report(
      errorAt(at, {
        code: 'HOOK_AMBIGUOUS_ACTION',
        message: `Per-iteration hook "${hook.id}" has ${actions.join(' and ')}; keep one of them`,
      }),
    )
}

const createDuplicateHook = (at: DiagnosticTarget, id: string): Diagnostic =>
  errorAt(at, { code: 'DUPLICATE_HOOK_ID', message: `Two per-iteration hooks have the id "${id}"` })

function createUnknownHook(at: DiagnosticTarget, id: string, hooks: ReadonlyMap<string, unknown>): Diagnostic {
  const { hint = 'to add a hook, use the list form and give it a prompt, a workflow or run' } = didYouMean(
    id,
    hooks.keys(),
  )
  const message = `The workflow has no hook "${id}" to override`
  return errorAt(at, { code: 'RALPH_INVALID_HOOK_OVERRIDE', message, hint })
}
