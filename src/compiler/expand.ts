import type { CompiledPhase, DependencyGraph } from '../contract/phases.ts'
import { newBudget, sizeLimits } from './budget.ts'
import { chosen, over } from './choice.ts'
import { collectionsOf } from './collections.ts'
import type { Compilation } from './compilation.ts'
import { unknownText } from './decode.ts'
import { expandItems } from './expand-items.ts'
import { checkChoice, emitChoice, emitFlow, type Expander, fillPrompt, scopeOf } from './expander.ts'
import { type FlatPhase, inline, topLevel } from './inline.ts'
import { type At, errorAt, warningAt, writtenAt } from './parse.ts'
import { didYouMean } from './suggest.ts'

export type Expansion = { readonly phases: readonly CompiledPhase[]; readonly graphs: readonly DependencyGraph[] }

/** One list of phases out of the workflow, the workflows that it inserts, and the items that it works on. */
export function expand(compilation: Compilation): Expansion {
  const { main, sprint, library, tell } = compilation
  const inlining = { library, tell, budget: newBudget(), sprintChoice: chosen(sprint.value) }
  const expander: Expander = {
    compilation,
    inlining,
    collections: collectionsOf(compilation),
    itemPhases: new Map(),
    graphs: [],
    unknown: new Set(),
  }
  const flat = inline(main, topLevel, inlining)
  checkCollections(flat, expander)
  checkUnique(flat, expander)
  const phases = inlining.budget.exceeded ? [] : flat.map((phase, index) => expandPhase(phase, index, expander))
  if (inlining.budget.exceeded) tell(tooLarge({ parsed: sprint.parsed, path: ['workflow'] }))
  return { phases, graphs: expander.graphs }
}

function expandPhase(phase: FlatPhase, index: number, expander: Expander): CompiledPhase {
  checkChoice(phase, expander.compilation)
  const choice = over(phase.own, phase.fallback)
  const work = { status: 'pending' as const, ...emitChoice(choice, expander.compilation), ...emitFlow(phase.flow) }
  if (phase.forEach) {
    const everywhere = expander.compilation.settings.parallelExecution?.enabled === true
    return {
      id: phase.id,
      ...work,
      ...(everywhere && { parallel: true }),
      steps: expandItems(phase, phase.forEach, expander),
    }
  }
  const scope = scopeOf({ id: phase.id, index }, expander.compilation)
  return { id: phase.id, prompt: fillPrompt(phase.prompt ?? [], scope, phase.at, expander), ...work }
}

function checkCollections(flat: readonly FlatPhase[], { compilation, collections }: Expander): void {
  const { sprint, tell } = compilation
  const { parsed } = sprint
  const wanted = new Set(flat.flatMap(({ forEach }) => (forEach ? [forEach.collection] : [])))
  const written = writtenAt(parsed, ['collections']) ?? undefined
  if (typeof written === 'object' && Object.keys(written).length === 0)
    tell(
      errorAt(
        { parsed, path: ['collections'] },
        { code: 'EMPTY_COLLECTIONS', message: 'collections has no collection' },
      ),
    )
  else if (written === undefined && collections.size === 0 && wanted.size > 0)
    tell(
      errorAt(
        { parsed, path: [] },
        {
          code: 'MISSING_COLLECTIONS',
          message: `The workflow works on items, but SPRINT.yaml has no collections`,
          hint: `list them under "collections: {${[...wanted].join(', ')}: […]}"`,
        },
      ),
    )
  for (const [name, { path }] of collections) {
    if (wanted.has(name) || wanted.has(unknownText)) continue
    const message = `No phase works on the collection "${name}"`
    tell(warningAt({ parsed, path, part: 'key' }, { code: 'UNUSED_COLLECTION', message, ...didYouMean(name, wanted) }))
  }
}

/** Within one file this has been checked; inserted phases can still meet others of the same name. */
function checkUnique(flat: readonly FlatPhase[], { compilation }: Expander): void {
  const seen = new Map<string, FlatPhase>()
  for (const phase of flat) {
    const before = seen.get(phase.id)
    if (before && before.at.parsed !== phase.at.parsed) {
      const message = `Two phases have the id "${phase.id}" after the workflows are put together`
      compilation.tell(
        errorAt({ ...phase.at, path: [...phase.at.path, 'id'] }, { code: 'DUPLICATE_PHASE_ID', message }),
      )
    }
    seen.set(phase.id, phase)
  }
}

const tooLarge = (at: At) =>
  errorAt(at, {
    code: 'EXPANSION_TOO_LARGE',
    message: `Put together, the sprint has more than ${sizeLimits.phases} phases, ${sizeLimits.subPhases} tasks for items, or ${sizeLimits.characters} characters`,
    hint: 'use fewer items, or smaller prompts',
  })
