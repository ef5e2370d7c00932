import type { DependencyGraph } from '../../contract/phases.ts'
import { spendBudget } from './budget.ts'
import { checkAgents, checkModel, type AgentChoice, readAgentChoice, mergeChoices } from '../check/agent-choice.ts'
import type { Collection } from './collections.ts'
import { type Compilation, getSprintName } from '../resolve/compilation.ts'
import { unknownText } from '../parse/decode.ts'
import { omitUndefined } from '../resolve/omit-undefined.ts'
import type { FlatPhase, Inlining } from './inline.ts'
import { type DiagnosticTarget, errorAt, warningAt } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'
import {
  fillPromptTemplate,
  parseTemplate,
  type TemplateScope,
  type PromptTemplate,
  type TemplateVariable,
} from './template.ts'

/** Shared state of the expansion. */
export type Expander = {
  readonly compilation: Compilation
  readonly inlining: Inlining
  readonly collections: ReadonlyMap<string, Collection>
  /** Phases of an item's workflow, by the chain of workflows that leads to it. */
  readonly itemPhases: Map<string, readonly FlatPhase[]>
  readonly graphs: DependencyGraph[]
  /** Unknown variables that have been reported. */
  readonly unknown: Set<TemplateVariable>
}

/** Checks a phase that sets its own model or agent; those of the sprint and workflow are checked once elsewhere. */
export function checkChoice({ own, ownAt, fallback }: FlatPhase, { input, settings, report }: Compilation): void {
  if (!ownAt) return
  checkAgents(own, ownAt, input.agents, report)
  const field = own.model === undefined ? 'agent' : 'model'
  const whole = mergeChoices(own, mergeChoices(fallback, readAgentChoice(settings)))
  checkModel(whole, { ...ownAt, path: [...ownAt.path, field] }, input.agents, report)
}

/** The model is always written out, the agents only if they differ from those of the sprint. */
export function emitChoice({ model, agent }: AgentChoice, { settings }: Compilation) {
  const differs = agent !== undefined && agent.join() !== settings.agent?.join()
  return { ...omitUndefined({ model: model ?? settings.model }), ...(differs && { agent: [...agent] }) }
}

/** Fills the prompt of a gate but not its script, because a shell would run the inserted text. */
export function emitFlow({ flow, gatePrompt, at }: FlatPhase, scope: TemplateScope, filling: PromptFilling) {
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
    if (typeof part !== 'string' && scope.has(part.object)) reportUnfilledVariable(part, at, filling)
  return { ...rest, gate: { script, onFailPrompt, maxRetries: onFail.maxRetries, timeout } }
}

function reportUnfilledVariable({ raw }: TemplateVariable, at: DiagnosticTarget, { compilation }: PromptFilling): void {
  const place = { ...at, path: [...at.path, 'gate', 'script'], part: { text: raw } }
  const message = `${raw} is not replaced in a script`
  const hint = 'a script can read $SPRINT_ID, $PHASE_ID and $ATTEMPT_NUMBER'
  compilation.report(warningAt(place, { code: 'UNRESOLVED_VARIABLES', message, hint }))
}

export const locatePrompt = ({ at }: FlatPhase): DiagnosticTarget => ({ ...at, path: [...at.path, 'prompt'] })

/** Duplicates within one file produce the same diagnostic, which is reported once; inserted phases can still collide with others. */
export function checkUnique(flat: readonly FlatPhase[], { report }: Compilation): void {
  const seen = new Set<string>()
  for (const { id, at } of flat) {
    const message = `Two phases have the id "${id}"`
    if (seen.has(id) && !id.includes(unknownText))
      report(errorAt({ ...at, path: [...at.path, 'id'] }, { code: 'DUPLICATE_PHASE_ID', message }))
    seen.add(id)
  }
}

export type ScopeObjects = readonly (readonly [string, Readonly<Record<string, unknown>>])[]

/** Objects that a prompt can refer to. Built-in objects win over a collection of the same name. */
export function createScope(
  phase: { id: string; index: number },
  compilation: Compilation,
  more: ScopeObjects = [],
): TemplateScope {
  const { sprintId, sprint } = compilation
  const name = sprint.value.name ?? getSprintName(sprintId)
  return new Map([...more, ['phase', phase], ['sprint', { id: sprintId, name }]])
}

export type PromptFilling = Pick<Expander, 'unknown' | 'compilation'> & { readonly inlining: Pick<Inlining, 'budget'> }

/** Fills the prompt at `at`; empty once the budget is exceeded. Reports each unknown variable once. */
export function fillPrompt(
  template: PromptTemplate,
  scope: TemplateScope,
  at: DiagnosticTarget,
  filling: PromptFilling,
): string {
  const { compilation, unknown, inlining } = filling
  if (inlining.budget.exceeded) return ''
  const text = fillPromptTemplate(template, scope, (variable) => {
    if (unknown.has(variable)) return
    unknown.add(variable)
    reportUnknownVariable(variable, scope, at, compilation)
  })
  return spendBudget(inlining.budget, { characters: text.length }) ? text : ''
}

function reportUnknownVariable(
  variable: TemplateVariable,
  scope: TemplateScope,
  at: DiagnosticTarget,
  { report, input, anyItemField, isItemWorkflow }: Compilation,
): void {
  const { raw, object, path } = variable
  const known = scope.get(object)
  if (anyItemField === true && known !== undefined && known === scope.get('item')) return
  if (isItemWorkflow === true && (object === 'item' || object === 'step')) return
  const place = { ...at, part: { text: raw } }
  const found = {
    code: 'UNRESOLVED_VARIABLES' as const,
    message: known ? `${raw} has no value here` : `${raw} is unknown and stays unchanged`,
    ...(known ? didYouMean(path.join('.'), Object.keys(known)) : didYouMean(object, scope.keys())),
  }
  report(input.strict === true ? errorAt(place, found) : warningAt(place, found))
}
