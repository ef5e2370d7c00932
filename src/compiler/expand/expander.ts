import type { DependencyGraph } from '../../contract/phases.ts'
import { spend } from './budget.ts'
import { checkAgents, checkModel, type Choice, chosen, over } from '../check/choice.ts'
import type { Collection } from './collections.ts'
import { type Compilation, nameInId } from '../resolve/compilation.ts'
import { unknownText } from '../parse/decode.ts'
import { defined } from '../resolve/defined.ts'
import type { FlatPhase, Inlining } from './inline.ts'
import { type At, errorAt, warningAt } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'
import { fillTemplate, parseTemplate, type Scope, type Template, type Variable } from './template.ts'

/** Shared state of the expansion. */
export type Expander = {
  readonly compilation: Compilation
  readonly inlining: Inlining
  readonly collections: ReadonlyMap<string, Collection>
  /** Phases of an item's workflow, by the chain of workflows that leads to it. */
  readonly itemPhases: Map<string, readonly FlatPhase[]>
  readonly graphs: DependencyGraph[]
  /** Unknown variables that have been reported. */
  readonly unknown: Set<Variable>
}

/** Checks a phase that sets its own model or agent; those of the sprint and workflow are checked once elsewhere. */
export function checkChoice({ own, ownAt, fallback }: FlatPhase, { input, settings, tell }: Compilation): void {
  if (!ownAt) return
  checkAgents(own, ownAt, input.agents, tell)
  const field = own.model === undefined ? 'agent' : 'model'
  const whole = over(own, over(fallback, chosen(settings)))
  checkModel(whole, { ...ownAt, path: [...ownAt.path, field] }, input.agents, tell)
}

/** The model is always written out, the agents only if they differ from those of the sprint. */
export function emitChoice({ model, agent }: Choice, { settings }: Compilation) {
  const differs = agent !== undefined && agent.join() !== settings.agent?.join()
  return { ...defined({ model: model ?? settings.model }), ...(differs && { agent: [...agent] }) }
}

/** Fills the prompt of a gate but not its script, because a shell would run the inserted text. */
export function emitFlow({ flow, gatePrompt, at }: FlatPhase, scope: Scope, filling: Filling) {
  const { gate, ...rest } = flow
  if (!gate || !gatePrompt) return rest
  const { script, timeout, onFail } = gate
  const onFailPrompt = fillPrompt(
    gatePrompt,
    scope,
    { ...at, path: [...at.path, 'gate', 'on-fail', 'prompt'] },
    filling,
  )
  for (const part of parseTemplate(script))
    if (typeof part !== 'string' && scope.has(part.object)) tellUnfilled(part, at, filling)
  return { ...rest, gate: { script, onFailPrompt, maxRetries: onFail.maxRetries, timeout } }
}

function tellUnfilled({ raw }: Variable, at: At, { compilation }: Filling): void {
  const place = { ...at, path: [...at.path, 'gate', 'script'], part: { text: raw } }
  const message = `${raw} is not replaced in a script`
  const hint = 'a script can read $SPRINT_ID, $PHASE_ID and $ATTEMPT_NUMBER'
  compilation.tell(warningAt(place, { code: 'UNRESOLVED_VARIABLES', message, hint }))
}

export const promptAt = ({ at }: FlatPhase): At => ({ ...at, path: [...at.path, 'prompt'] })

/** Duplicates within one file produce the same diagnostic, which is reported once; inserted phases can still collide with others. */
export function checkUnique(flat: readonly FlatPhase[], { tell }: Compilation): void {
  const seen = new Set<string>()
  for (const { id, at } of flat) {
    const message = `Two phases have the id "${id}"`
    if (seen.has(id) && !id.includes(unknownText))
      tell(errorAt({ ...at, path: [...at.path, 'id'] }, { code: 'DUPLICATE_PHASE_ID', message }))
    seen.add(id)
  }
}

export type Objects = readonly (readonly [string, Readonly<Record<string, unknown>>])[]

/** Objects that a prompt can refer to. Built-in objects win over a collection of the same name. */
export function scopeOf(phase: { id: string; index: number }, compilation: Compilation, more: Objects = []): Scope {
  const { sprintId, sprint } = compilation
  const name = sprint.value.name ?? nameInId(sprintId)
  return new Map([...more, ['phase', phase], ['sprint', { id: sprintId, name }]])
}

export type Filling = Pick<Expander, 'unknown' | 'compilation'> & { readonly inlining: Pick<Inlining, 'budget'> }

/** Fills the prompt at `at`; empty once the budget is exceeded. Reports each unknown variable once. */
export function fillPrompt(template: Template, scope: Scope, at: At, filling: Filling): string {
  const { compilation, unknown, inlining } = filling
  if (inlining.budget.exceeded) return ''
  const text = fillTemplate(template, scope, (variable) => {
    if (unknown.has(variable)) return
    unknown.add(variable)
    tellUnknown(variable, scope, at, compilation)
  })
  return spend(inlining.budget, { characters: text.length }) ? text : ''
}

function tellUnknown(variable: Variable, scope: Scope, at: At, { tell, input, anyItemField }: Compilation): void {
  const { raw, object, path } = variable
  const known = scope.get(object)
  if (anyItemField === true && known !== undefined && known === scope.get('item')) return
  const place = { ...at, part: { text: raw } }
  const found = {
    code: 'UNRESOLVED_VARIABLES' as const,
    message: known ? `${raw} has no value here` : `${raw} is unknown and stays unchanged`,
    ...(known ? didYouMean(path.join('.'), Object.keys(known)) : didYouMean(object, scope.keys())),
  }
  tell(input.strict === true ? errorAt(place, found) : warningAt(place, found))
}
