import type { CollectionItem, CompiledStep, CompiledSubPhase } from '../../contract/phases.ts'
import { spendBudget } from './budget.ts'
import { checkAgents, checkModel, readAgentChoice, mergeChoices } from '../check/agent-choice.ts'
import { type Collection, assignItemIds } from './collections.ts'
import { unknownText } from '../parse/decode.ts'
import { checkDependencies, buildDependencyGraph } from '../check/dependencies.ts'
import {
  checkChoice,
  checkUnique,
  emitChoice,
  emitFlow,
  type Expander,
  fillPrompt,
  type ScopeObjects,
  locatePrompt,
  createScope,
} from './expander.ts'
import { type FlatPhase, inlineWorkflow, resolveInner } from './inline.ts'
import { type DiagnosticTarget, errorAt } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'
import { parseTemplate } from './template.ts'

type ForEach = NonNullable<FlatPhase['forEach']>

/** Expands a for-each phase: one step per item of its collection. */
export function expandItems(phase: FlatPhase, forEach: ForEach, expander: Expander): CompiledStep[] {
  const { compilation, collections, graphs } = expander
  const collection = collections.get(forEach.collection)
  if (!collection) {
    reportMissingCollection(phase, forEach, expander)
    return []
  }
  const ids = assignItemIds(collection, forEach.type, compilation)
  const nodes = collection.items.map(({ dependsOn }, index) => ({
    id: ids[index] ?? '',
    dependsOn: [...new Set(dependsOn)].filter((id) => id !== unknownText),
    at: locateItem(collection, index, expander),
  }))
  checkDependencies(nodes, compilation.report)
  const graph = buildDependencyGraph(phase.id, nodes)
  if (graph) graphs.push(graph)
  return collection.items.map((item, index) => {
    const at = locateItem(collection, index, expander)
    return expandItem({ item, id: ids[index] ?? '', index, at, phase, forEach }, expander)
  })
}

const locateItem = ({ path }: Collection, index: number, { compilation }: Expander): DiagnosticTarget => ({
  parsed: compilation.sprint.parsed,
  path: [...path, index],
})

function reportMissingCollection(
  { at }: FlatPhase,
  { type, collection }: ForEach,
  { compilation, collections }: Expander,
): void {
  if (collections.size === 0 || collection === unknownText) return
  const place = { ...at, path: [...at.path, collection === type ? 'for-each' : 'collection'] }
  const message = `SPRINT.yaml has no collection "${collection}"`
  compilation.report(
    errorAt(place, { code: 'COLLECTION_NOT_FOUND', message, ...didYouMean(collection, collections.keys()) }),
  )
}

type PlacedItem = {
  readonly item: CollectionItem
  readonly id: string
  readonly index: number
  readonly at: DiagnosticTarget
  readonly phase: FlatPhase
  readonly forEach: ForEach
}

function expandItem(placed: PlacedItem, expander: Expander): CompiledStep {
  const { item, id, index, phase, forEach } = placed
  checkItemChoice(placed, expander)
  const fields = { index, ...item.fields, id }
  const objects = [
    [forEach.type, fields],
    ['item', fields],
  ] as const
  const phases = resolveItemPhases(placed, expander).map((inner, position) =>
    expandSubPhase({ inner, position, item, phase, objects }, expander),
  )
  return {
    id,
    prompt: item.prompt,
    status: 'pending',
    ...emitChoice(mergeChoices(readAgentChoice(item), mergeChoices(phase.own, phase.fallback)), expander.compilation),
    ...(item.dependsOn && item.dependsOn.length > 0 && { dependsOn: [...new Set(item.dependsOn)] }),
    phases: phases.filter((sub) => sub !== undefined),
  }
}

type SubPhaseInput = {
  readonly inner: FlatPhase
  readonly position: number
  readonly item: CollectionItem
  readonly phase: FlatPhase
  readonly objects: ScopeObjects
}

/** Precedence of model and agent: the item, the sub-phase, the phase, the sprint, the item's workflow, the workflow. */
function expandSubPhase({ inner, position, item, phase, objects }: SubPhaseInput, expander: Expander) {
  const { compilation, inlining } = expander
  const scope = createScope({ id: inner.id, index: position }, compilation, objects)
  const prompt = fillPrompt(inner.prompt ?? [], scope, locatePrompt(inner), expander)
  if (!spendBudget(inlining.budget, { subPhases: 1 })) return undefined
  const choice = mergeChoices(
    readAgentChoice(item),
    mergeChoices(inner.own, mergeChoices(phase.own, mergeChoices(inner.fallback, phase.fallback))),
  )
  const compiled: CompiledSubPhase = {
    id: inner.id,
    prompt,
    status: 'pending',
    ...emitChoice(choice, compilation),
    ...emitFlow(inner, scope, expander),
  }
  return compiled
}

function checkItemChoice({ item, at, phase }: PlacedItem, { compilation }: Expander): void {
  if (item.model === undefined && item.agent === undefined) return
  const { input, settings, report } = compilation
  checkAgents(item, at, input.agents, report)
  const whole = mergeChoices(
    readAgentChoice(item),
    mergeChoices(phase.own, mergeChoices(phase.fallback, readAgentChoice(settings))),
  )
  checkModel(whole, { ...at, path: [...at.path, item.model === undefined ? 'agent' : 'model'] }, input.agents, report)
}

const itemPrompt = parseTemplate('{{item.prompt}}')

/** Returns the phases that an item runs through; shared by all items with the same workflow. */
function resolveItemPhases({ item, at, phase, forEach }: PlacedItem, expander: Expander): readonly FlatPhase[] {
  const name = item.workflow ?? forEach.workflow
  if (name === undefined) {
    const { prompt = itemPrompt } = phase
    return [{ id: 'execute', at: phase.at, prompt, own: {}, fallback: {}, flow: {}, chain: phase.chain }]
  }
  const key = [...phase.chain, name].join(' ')
  const known = item.workflow === undefined ? expander.itemPhases.get(key) : undefined
  return known ?? loadItemPhases({ name, key, fromItem: item.workflow !== undefined, at, phase }, expander)
}

type ItemWorkflowRequest = {
  readonly name: string
  readonly key: string
  readonly fromItem: boolean
  readonly at: DiagnosticTarget
  readonly phase: FlatPhase
}

function loadItemPhases(
  { name, key, fromItem, at, phase }: ItemWorkflowRequest,
  expander: Expander,
): readonly FlatPhase[] {
  const { itemPhases, inlining, compilation } = expander
  const owner = fromItem ? at : phase.at
  const reference = {
    name,
    at: { ...owner, path: [...owner.path, 'workflow'] },
    missing: fromItem ? ('ITEM_WORKFLOW_NOT_FOUND' as const) : ('PHASE_WORKFLOW_NOT_FOUND' as const),
  }
  const inner = resolveInner(reference, phase.chain, inlining)
  const known = itemPhases.get(key)
  if (known) return known
  const flat = inner ? inlineWorkflow(inner, { chain: phase.chain, prefix: '', own: {}, fallback: {} }, inlining) : []
  checkUnique(flat, compilation)
  for (const sub of flat) checkSubPhase(sub, expander)
  for (const sub of flat) checkChoice(sub, compilation)
  const usable = flat.filter((sub) => !sub.forEach)
  itemPhases.set(key, usable)
  return usable
}

function checkSubPhase({ forEach, at }: FlatPhase, { compilation }: Expander): void {
  if (!forEach) return
  const message = 'for-each cannot be used in the workflow of an item: an item has no items of its own'
  compilation.report(errorAt({ ...at, path: [...at.path, 'for-each'] }, { code: 'INVALID_FOREACH', message }))
}
