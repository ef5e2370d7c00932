import { hookVariables, unknownHookVariables } from '../../contract/hook-prompt.ts'
import type { Hook, HookOverride } from '../../contract/settings.ts'
import type { Sprint } from '../../contract/sprint.ts'
import { checkId } from '../resolve/check-id.ts'
import type { Compilation } from '../resolve/compilation.ts'
import { unknownText } from '../parse/decode.ts'
import { defined } from '../resolve/defined.ts'
import type { Diagnostic, Tell } from '../parse/diagnostics.ts'
import { localHookPrompt } from './hook-workflow.ts'
import { type At, errorAt, type Path } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'

/** A hook, and the place to report problems of its action at. */
type PlacedHook = { readonly hook: Hook; readonly at: At }

/** Merges the hooks of the workflow with those of SPRINT.yaml, in written order. */
export function mergeHooks(compilation: Compilation): Hook[] {
  const { sprint, tell } = compilation
  const hooks = hooksOfWorkflow(compilation)
  const given = new Set<string>()
  for (const entry of overridesOf(sprint.value)) {
    const { id, path } = entry
    const at = { parsed: sprint.parsed, path }
    if (id === undefined) tell(errorAt(at, { code: 'MISSING_HOOK_ID', message: 'Per-iteration hook must have an id' }))
    else if (given.has(id)) tell(duplicate(at, id))
    else if (entry.fields.id !== undefined && entry.fields.id !== id)
      tell(errorAt(at, { code: 'INVALID_HOOK', message: `The override of "${id}" cannot give it another id` }))
    else {
      given.add(id)
      const merged = applyOverride(hooks.get(id), { ...entry, id, at })
      if (merged) hooks.set(id, merged)
      else tell(unknownHook(at, id, hooks))
    }
  }
  return [...hooks.values()].map((placed) => finishHook(placed, compilation))
}

function hooksOfWorkflow({ main, tell }: Compilation): Map<string, PlacedHook> {
  const hooks = new Map<string, PlacedHook>()
  for (const [index, hook] of (main.value.perIterationHooks ?? []).entries()) {
    const at = { parsed: main.parsed, path: ['per-iteration-hooks', index] }
    if (hooks.has(hook.id)) tell(duplicate(at, hook.id))
    else hooks.set(hook.id, { hook, at })
  }
  return hooks
}

type Override = {
  readonly id: string | undefined
  readonly form: 'map' | 'list'
  readonly fields: HookOverride
  readonly path: Path
}

function overridesOf({ perIterationHooks }: Sprint): Override[] {
  const root = 'per-iteration-hooks'
  if (perIterationHooks === undefined) return []
  if (Array.isArray(perIterationHooks))
    return perIterationHooks.map((fields, index) => ({ id: fields.id, form: 'list', fields, path: [root, index] }))
  return Object.entries(perIterationHooks).map(([id, fields]) => ({ id, form: 'map', fields, path: [root, id] }))
}

type GivenOverride = Override & { readonly id: string; readonly at: At }

const newHook = { parallel: true, enabled: true, onFail: 'record' } as const

/** Returns undefined if there is no hook to override and no complete hook to add. A new action replaces the old one. */
function applyOverride(known: PlacedHook | undefined, { id, form, fields, at }: GivenOverride): PlacedHook | undefined {
  const acts = actionsOf(fields).length > 0
  if (!known && (form === 'map' || !acts)) return undefined
  const base = known?.hook ?? { ...newHook, id }
  const { prompt, workflow, run, ...rest } = base
  const kept = acts ? rest : { ...rest, ...defined({ prompt, workflow, run }) }
  return { hook: { ...kept, ...defined(fields), id }, at: acts || !known ? at : known.at }
}

const actionsOf = ({ prompt, workflow, run }: HookOverride): string[] =>
  Object.entries({ prompt, workflow, run }).flatMap(([name, value]) => (value === undefined ? [] : [name]))

/** Checks the action of a hook, and replaces a project workflow by its prompt. */
function finishHook({ hook, at }: PlacedHook, compilation: Compilation): Hook {
  const { tell, input } = compilation
  checkId(hook.id, at, tell)
  checkActions({ hook, at }, tell)
  const text = hook.workflow === undefined ? hook.prompt : localHookPrompt({ hook, at }, compilation)
  for (const raw of unknownHookVariables(hook.prompt ?? ''))
    tell({
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
  return { ...hook, ...defined({ prompt: text }) }
}

function checkActions({ hook, at }: PlacedHook, tell: Tell): void {
  const actions = actionsOf(hook)
  if (actions.length === 0 && hook.id !== unknownText)
    tell(
      errorAt(at, {
        code: 'RALPH_INVALID_HOOK',
        message: `Per-iteration hook must have workflow or prompt, or run: "${hook.id}" has none of them`,
      }),
    )
  if (actions.length > 1)
    tell(
      errorAt(at, {
        code: 'HOOK_AMBIGUOUS_ACTION',
        message: `Per-iteration hook "${hook.id}" has ${actions.join(' and ')}; keep one of them`,
      }),
    )
}

const duplicate = (at: At, id: string): Diagnostic =>
  errorAt(at, { code: 'DUPLICATE_HOOK_ID', message: `Two per-iteration hooks have the id "${id}"` })

function unknownHook(at: At, id: string, hooks: ReadonlyMap<string, unknown>): Diagnostic {
  const { hint = 'to add a hook, use the list form and give it a prompt, a workflow or run' } = didYouMean(
    id,
    hooks.keys(),
  )
  const message = `The workflow has no hook "${id}" to override`
  return errorAt(at, { code: 'RALPH_INVALID_HOOK_OVERRIDE', message, hint })
}
