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

/** What is at hand while phases and items are put together. */
export type Expander = {
  readonly compilation: Compilation
  readonly inlining: Inlining
  readonly collections: ReadonlyMap<string, Collection>
  /** The phases of an item's workflow, by the workflows that lead to it. */
  readonly itemPhases: Map<string, readonly FlatPhase[]>
  readonly graphs: DependencyGraph[]
  /** Unknown variables that were told of. */
  readonly unknown: Set<Variable>
}

/** Only where a phase says something itself: what the sprint and its workflow say is checked once. */
export function checkChoice({ own, ownAt, fallback }: FlatPhase, { input, settings, tell }: Compilation): void {
  if (!ownAt) return
  checkAgents(own, ownAt, input.agents, tell)
  const field = own.model === undefined ? 'agent' : 'model'
  const whole = over(own, over(fallback, chosen(settings)))
  checkModel(whole, { ...ownAt, path: [...ownAt.path, field] }, input.agents, tell)
}

/** The model is always written out; the agents only where they are not those of the sprint. */
export function emitChoice({ model, agent }: Choice, { settings }: Compilation) {
  const differs = agent !== undefined && agent.join() !== settings.agent?.join()
  return { ...defined({ model: model ?? settings.model }), ...(differs && { agent: [...agent] }) }
}

/** The prompt of a gate is filled like any other; its script is not, since a shell would run what is put in. */
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
  const hint = 'a script is told $SPRINT_ID, $PHASE_ID and $ATTEMPT_NUMBER'
  compilation.tell(warningAt(place, { code: 'UNRESOLVED_VARIABLES', message, hint }))
}

export const promptAt = ({ at }: FlatPhase): At => ({ ...at, path: [...at.path, 'prompt'] })

/** Within one file this has been told already, in the same words; inserted phases can still meet others of the same name. */
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

/** What a prompt can refer to. Objects of ours win over a collection that has the same name. */
export function scopeOf(phase: { id: string; index: number }, compilation: Compilation, more: Objects = []): Scope {
  const { sprintId, sprint } = compilation
  const name = sprint.value.name ?? nameInId(sprintId)
  return new Map([...more, ['phase', phase], ['sprint', { id: sprintId, name }]])
}

export type Filling = Pick<Expander, 'unknown' | 'compilation'> & { readonly inlining: Pick<Inlining, 'budget'> }

/** The text of the prompt at `at`; nothing once the sprint has become too large. Unknown variables are told once. */
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
    message: known ? `${raw} has no value here` : `${raw} refers to nothing, and stays as it is`,
    ...(known ? didYouMean(path.join('.'), Object.keys(known)) : didYouMean(object, scope.keys())),
  }
  tell(input.strict === true ? errorAt(place, found) : warningAt(place, found))
}
