import type { Phase } from '../../contract/phases.ts'
import type { Workflow } from '../../contract/workflow.ts'
import { type Budget, spend } from './budget.ts'
import { type Choice, chosen, over } from '../check/choice.ts'
import { unknownText } from '../parse/decode.ts'
import type { Tell } from '../parse/diagnostics.ts'
import { type At, errorAt, warningAt } from '../parse/parse.ts'
import { type Library, type LoadedWorkflow, resolve } from '../resolve/resolve.ts'
import { parseTemplate, type Template } from './template.ts'

/** Maximum nesting of workflows, including the one that the sprint names. */
const maxDepth = 5

/** A phase as it will run, with all references resolved. */
export type FlatPhase = {
  readonly id: string
  readonly at: At
  readonly prompt?: Template
  /** Prompt for the agent when the gate of the phase fails. */
  readonly gatePrompt?: Template
  readonly forEach?: { readonly type: string; readonly collection: string; readonly workflow?: string }
  /** Model and agent set at the phase or at an enclosing phase. */
  readonly own: Choice
  /** Where they are set, if they are. */
  readonly ownAt?: At
  /** Model and agent set by the sprint or the workflow. */
  readonly fallback: Choice
  readonly flow: Flow
  /** Names of the workflows that lead here, to detect cycles in the items' workflows. */
  readonly chain: readonly string[]
}

export type Flow = Pick<Phase, 'parallel' | 'waitForParallel' | 'break' | 'gate'>

export type Inlining = {
  readonly library: Library
  readonly tell: Tell
  readonly budget: Budget
  /** Model and agent of SPRINT.yaml, which override those of any workflow. */
  readonly sprintChoice: Choice
}

type Around = {
  readonly chain: readonly string[]
  readonly prefix: string
  readonly own: Choice
  readonly ownAt?: At
  readonly fallback: Choice
}

export const topLevel: Around = { chain: [], prefix: '', own: {}, fallback: {} }

/** Returns the phases of a workflow and of every workflow that it inserts. Ids become `<phase>-<inner>`. */
export function inline(workflow: LoadedWorkflow, around: Around, inlining: Inlining): FlatPhase[] {
  const chain = [...around.chain, workflow.name]
  const fallback = over(inlining.sprintChoice, over(chosen(workflow.value), around.fallback))
  return (workflow.value.phases ?? []).flatMap((phase, index) => {
    if (inlining.budget.exceeded) return []
    const at = { parsed: workflow.parsed, path: ['phases', index] }
    const id = `${around.prefix}${phase.id}`
    const said = phase.model !== undefined || phase.agent !== undefined ? at : around.ownAt
    const choice = { own: over(chosen(phase), around.own), fallback, ...(said && { ownAt: said }) }
    if (phase.workflow !== undefined && phase.forEach === undefined && phase.prompt === undefined)
      return insert(phase, at, { chain, prefix: `${id}-`, ...choice }, inlining)
    if (!spend(inlining.budget, { phases: 1 })) return []
    return [flat({ phase, at, id, chain, ...choice })]
  })
}

type Parts = Pick<FlatPhase, 'at' | 'id' | 'chain' | 'own' | 'ownAt' | 'fallback'> & { readonly phase: Phase }

function flat({ phase, ...rest }: Parts): FlatPhase {
  const { forEach, collection, workflow, prompt } = phase
  return {
    ...rest,
    ...(prompt !== undefined && { prompt: parseTemplate(prompt) }),
    ...(forEach !== undefined && {
      forEach: { type: forEach, collection: collection ?? forEach, ...(workflow !== undefined && { workflow }) },
    }),
    ...withGate(flowOf(phase)),
  }
}

const withGate = (flow: Flow): Pick<FlatPhase, 'flow' | 'gatePrompt'> => ({
  flow,
  ...(flow.gate && { gatePrompt: parseTemplate(flow.gate.onFail.prompt) }),
})

const flowOf = ({ parallel, waitForParallel, break: stop, gate }: Phase): Flow => ({
  ...(parallel === true && { parallel }),
  ...(waitForParallel === true && { waitForParallel }),
  ...(stop === true && { break: stop }),
  ...(gate && { gate }),
})

function insert(phase: Phase, at: At, around: Around, inlining: Inlining): FlatPhase[] {
  const where = { ...at, path: [...at.path, 'workflow'] }
  const reference = { name: phase.workflow ?? unknownText, at: where, missing: 'PHASE_WORKFLOW_NOT_FOUND' as const }
  const inner = resolveInner(reference, around.chain, inlining)
  if (!inner) return []
  const phases = inline(inner, around, inlining)
  return bracket(phases, { phase, at, tell: inlining.tell })
}

type Reference = Parameters<typeof resolve>[0]

/** Resolves the workflow of a phase, an item or a hook, if it may be used there. */
export function resolveInner(reference: Reference, chain: readonly string[], inlining: Inlining) {
  const { name, at } = reference
  const { tell, library } = inlining
  if (chain.includes(name)) {
    const message = `Workflows insert each other in a cycle: ${[...chain, name].join(' -> ')}`
    return tell(errorAt(at, { code: 'CYCLE_DETECTED', message }))
  }
  if (chain.length >= maxDepth) {
    const message = `Workflows are nested more than ${maxDepth} deep: ${[...chain, name].join(' -> ')}`
    return tell(errorAt(at, { code: 'MAX_DEPTH_EXCEEDED', message }))
  }
  const inner = resolve(reference, library, tell)
  if (!inner) return undefined
  if (inner.value.mode === 'ralph') {
    const message = `Workflow "${name}" is goal-driven (mode: ralph) and has no phases to insert`
    return tell(errorAt(at, { code: 'INVALID_WORKFLOW_MODE', message }))
  }
  for (const field of ignoredFields(inner.value))
    tell(
      warningAt(
        { parsed: inner.parsed, path: [field], part: 'key' },
        {
          code: 'NOT_SUPPORTED',
          message: `${field} only has effect in the workflow that SPRINT.yaml names, not in "${name}"`,
        },
      ),
    )
  return inner
}

/** Settings of the whole sprint, which an inserted workflow cannot change. */
function ignoredFields({ perIterationHooks, worktree, limits, timeouts, doneWhen, ...rest }: Workflow): string[] {
  const { checkpoint, sandbox, env, notify, review, retry, prompts, parallelExecution } = rest
  const fields = {
    'per-iteration-hooks': perIterationHooks,
    'done-when': doneWhen,
    'parallel-execution': parallelExecution,
    worktree,
    limits,
    timeouts,
    checkpoint,
    sandbox,
    env,
    notify,
    review,
    retry,
    prompts,
  }
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]))
}

type Bracket = { readonly phase: Phase; readonly at: At; readonly tell: Inlining['tell'] }

/** Flow settings of the inserting phase apply to the whole insertion: the wait before the first phase, gate and break after the last. */
function bracket(phases: readonly FlatPhase[], { phase, at, tell }: Bracket): FlatPhase[] {
  const flow = flowOf(phase)
  const last = phases.length - 1
  if (flow.gate && phases[last]?.flow.gate)
    tell(
      errorAt(
        { ...at, path: [...at.path, 'gate'] },
        {
          code: 'INVALID_GATE',
          message: `The last phase of workflow "${phase.workflow}" already has a gate, and a phase can have only one`,
        },
      ),
    )
  return phases.map((inner, index) => {
    const before = index === 0 && flow.waitForParallel ? { waitForParallel: true } : {}
    const { gate, break: stop } = index === last ? flow : {}
    const whole = { ...inner.flow, ...before, ...(gate && { gate }), ...(stop && { break: stop }) }
    return { ...inner, ...withGate(whole) }
  })
}
