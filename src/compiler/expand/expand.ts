import type { CompiledPhase, DependencyGraph } from '../../contract/phases.ts'
import { createBudget, sizeLimits } from './budget.ts'
import { readAgentChoice, mergeChoices } from '../check/agent-choice.ts'
import { readCollections } from './collections.ts'
import type { Compilation } from '../resolve/compilation.ts'
import { unknownText } from '../parse/decode.ts'
import { expandItems } from './expand-items.ts'
import {
  checkChoice,
  checkUnique,
  emitChoice,
  emitFlow,
  type Expander,
  fillPrompt,
  locatePrompt,
  createScope,
} from './expander.ts'
import { type FlatPhase, inlineWorkflow, topLevel } from './inline.ts'
import { type DiagnosticTarget, errorAt, warningAt, getRawValue } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'

export type Expansion = { readonly phases: readonly CompiledPhase[]; readonly graphs: readonly DependencyGraph[] }

/** Expands the workflow, the workflows that it inserts, and its items into one list of phases. */
export function expandPhases(compilation: Compilation): Expansion {
  const { main, sprint, library, report } = compilation
  const inlining = { library, report, budget: createBudget(), sprintChoice: readAgentChoice(sprint.value) }
  const expander: Expander = {
    compilation,
    inlining,
    collections: readCollections(compilation),
    itemPhases: new Map(),
    graphs: [],
    unknown: new Set(),
  }
  const flat = inlineWorkflow(main, topLevel, inlining)
  checkCollections(flat, expander)
  checkUnique(flat, compilation)
  const phases = inlining.budget.exceeded ? [] : flat.map((phase, index) => expandPhase(phase, index, expander))
  if (inlining.budget.exceeded) report(createTooLarge({ parsed: sprint.parsed, path: ['workflow'] }))
  return { phases, graphs: expander.graphs }
}

function expandPhase(phase: FlatPhase, index: number, expander: Expander): CompiledPhase {
  checkChoice(phase, expander.compilation)
  const scope = createScope({ id: phase.id, index }, expander.compilation)
  const choice = emitChoice(mergeChoices(phase.own, phase.fallback), expander.compilation)
  const work = { status: 'pending' as const, ...choice, ...emitFlow(phase, scope, expander) }
  if (phase.forEach) {
    const everywhere = expander.compilation.settings.parallelExecution?.enabled === true
    return {
      id: phase.id,
      ...work,
      ...(everywhere && { parallel: true }),
      steps: expandItems(phase, phase.forEach, expander),
    }
  }
  return { id: phase.id, prompt: fillPrompt(phase.prompt ?? [], scope, locatePrompt(phase), expander), ...work }
}

function checkCollections(flat: readonly FlatPhase[], { compilation, collections }: Expander): void {
  const { sprint, report } = compilation
  const { parsed } = sprint
  const usedCollections = new Set(flat.flatMap(({ forEach }) => (forEach ? [forEach.collection] : [])))
  const written = getRawValue(parsed, ['collections']) ?? undefined
  if (typeof written === 'object' && Object.keys(written).length === 0)
    report(
      errorAt(
        { parsed, path: ['collections'] },
        { code: 'EMPTY_COLLECTIONS', message: 'collections has no collection' },
      ),
    )
  else if (written === undefined && collections.size === 0 && usedCollections.size > 0)
    report(
      errorAt(
        { parsed, path: [] },
        {
          code: 'MISSING_COLLECTIONS',
          message: `The workflow needs items, but SPRINT.yaml has no collections`,
          hint: `list them under "collections: {${[...usedCollections].join(', ')}: […]}"`,
        },
      ),
    )
  for (const [name, { path }] of collections) {
    if (usedCollections.has(name) || usedCollections.has(unknownText)) continue
    const message = `No phase uses the collection "${name}"`
    report(
      warningAt(
        { parsed, path, part: 'key' },
        { code: 'UNUSED_COLLECTION', message, ...didYouMean(name, usedCollections) },
      ),
    )
  }
}

const createTooLarge = (at: DiagnosticTarget) =>
  errorAt(at, {
    code: 'EXPANSION_TOO_LARGE',
    message: `The expanded sprint has more than ${sizeLimits.phases} phases, ${sizeLimits.subPhases} tasks for items, or ${sizeLimits.characters} characters`,
    hint: 'use fewer items, or smaller prompts',
  })
