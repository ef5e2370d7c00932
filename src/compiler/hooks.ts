import type { Hook, HookOverride } from '../contract/settings.ts'
import type { Sprint } from '../contract/sprint.ts'
import type { Workflow } from '../contract/workflow.ts'
import { defined } from './defined.ts'
import type { Diagnostic } from './diagnostics.ts'
import { errorAt, type Parsed, type Path } from './parse.ts'
import { didYouMean } from './suggest.ts'

export type HookFiles = {
  readonly sprint: { readonly value: Sprint; readonly parsed: Parsed }
  readonly workflow: { readonly value: Workflow; readonly parsed: Parsed }
}

/** A hook, and the place that is to blame for its action. */
export type PlacedHook = { readonly hook: Hook; readonly parsed: Parsed; readonly path: Path }

export type MergedHooks = { readonly hooks: readonly PlacedHook[]; readonly diagnostics: readonly Diagnostic[] }

/** The hooks of the workflow, changed and completed by SPRINT.yaml, in the order in which they are written. */
export function mergeHooks({ sprint, workflow }: HookFiles): MergedHooks {
  const diagnostics: Diagnostic[] = []
  const hooks = new Map<string, PlacedHook>()
  for (const [index, hook] of (workflow.value.perIterationHooks ?? []).entries()) {
    const path = ['per-iteration-hooks', index]
    if (hooks.has(hook.id)) diagnostics.push(duplicate(workflow.parsed, path, hook.id))
    else hooks.set(hook.id, { hook, parsed: workflow.parsed, path })
  }
  const given = new Set<string>()
  for (const entry of overridesOf(sprint.value)) {
    const { id, path } = entry
    if (id === undefined) diagnostics.push(missingId(sprint.parsed, path))
    else if (given.has(id)) diagnostics.push(duplicate(sprint.parsed, path, id))
    else {
      given.add(id)
      const outcome = applyOverride(hooks.get(id), { ...entry, id, parsed: sprint.parsed })
      if (outcome) hooks.set(id, outcome)
      else diagnostics.push(unknownHook(sprint.parsed, path, id, hooks))
    }
  }
  for (const placed of hooks.values()) diagnostics.push(...actionProblems(placed))
  return { hooks: [...hooks.values()], diagnostics }
}

type Override = {
  readonly id: string | undefined
  readonly form: 'map' | 'list'
  readonly fields: HookOverride
  readonly path: Path
}

function overridesOf({ perIterationHooks }: Sprint): Override[] {
  if (perIterationHooks === undefined) return []
  if (Array.isArray(perIterationHooks))
    return perIterationHooks.map((fields, index) => ({
      id: fields.id,
      form: 'list',
      fields,
      path: ['per-iteration-hooks', index],
    }))
  return Object.entries(perIterationHooks).map(([id, fields]) => ({
    id,
    form: 'map',
    fields,
    path: ['per-iteration-hooks', id],
  }))
}

/** undefined: there is nothing to override, and nothing whole to add. */
function applyOverride(
  known: PlacedHook | undefined,
  { id, form, fields, path, parsed }: Override & { readonly id: string; readonly parsed: Parsed },
): PlacedHook | undefined {
  const acts = actionsOf(fields).length > 0
  if (!known && (form === 'map' || !acts)) return undefined
  const { prompt, workflow, run, ...rest } = known?.hook ?? { parallel: true, enabled: true, onFail: 'record' as const }
  const action = acts ? {} : { prompt, workflow, run }
  const hook = { ...defined({ ...rest, ...action }), ...defined(fields), id } as Hook
  return { hook, ...(acts || !known ? { parsed, path } : { parsed: known.parsed, path: known.path }) }
}

const actionsOf = ({ prompt, workflow, run }: HookOverride): string[] =>
  Object.entries({ prompt, workflow, run }).flatMap(([name, value]) => (value === undefined ? [] : [name]))

function actionProblems({ hook, parsed, path }: PlacedHook): Diagnostic[] {
  const actions = actionsOf(hook)
  if (actions.length === 1) return []
  if (actions.length === 0)
    return [
      errorAt(parsed, {
        path,
        code: 'RALPH_INVALID_HOOK',
        message: `Per-iteration hook must have workflow or prompt, or run: "${hook.id}" has none of them`,
      }),
    ]
  return [
    errorAt(parsed, {
      path,
      code: 'HOOK_AMBIGUOUS_ACTION',
      message: `Per-iteration hook "${hook.id}" has ${actions.join(' and ')}; keep one of them`,
    }),
  ]
}

const duplicate = (parsed: Parsed, path: Path, id: string): Diagnostic =>
  errorAt(parsed, { path, code: 'DUPLICATE_HOOK_ID', message: `Two per-iteration hooks have the id "${id}"` })

const missingId = (parsed: Parsed, path: Path): Diagnostic =>
  errorAt(parsed, { path, code: 'MISSING_HOOK_ID', message: 'Per-iteration hook must have an id' })

function unknownHook(parsed: Parsed, path: Path, id: string, hooks: ReadonlyMap<string, unknown>): Diagnostic {
  const suggestion = didYouMean(id, hooks.keys())
  return errorAt(parsed, {
    path,
    code: 'RALPH_INVALID_HOOK_OVERRIDE',
    message: `The workflow has no hook "${id}" that could be overridden`,
    hint: suggestion.hint ?? 'to add a hook, use the list form and give it a prompt, a workflow or run',
  })
}
