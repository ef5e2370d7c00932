import { isGoalDriven } from '../../contract/way.ts'
import type { Phase } from '../../contract/phases.ts'
import type { Workflow } from '../../contract/workflow.ts'
import { type ExpansionBudget, spendBudget } from './budget.ts'
import { type AgentChoice, readAgentChoice, mergeChoices } from '../check/agent-choice.ts'
import { unknownText } from '../parse/decode.ts'
import type { AddDiagnostic } from '../parse/diagnostics.ts'
import { type DiagnosticTarget, errorAt, warningAt } from '../parse/parse.ts'
import { type WorkflowLibrary, type LoadedWorkflow, resolveWorkflow } from '../resolve/resolve.ts'
import { parseTemplate, type PromptTemplate } from './template.ts'

/** Maximum nesting of workflows, including the one that the sprint names. */
const maxDepth = 5

/** A phase as it will run, with all references resolved. */
export type FlatPhase = {
  readonly id: string
  readonly at: DiagnosticTarget
  readonly prompt?: PromptTemplate
  /** Prompt for the agent when the gate of the phase fails. */
  readonly gatePrompt?: PromptTemplate
  readonly forEach?: { readonly type: string; readonly collection: string; readonly workflow?: string }
  /** Model and agent set at the phase or at an enclosing phase. */
  readonly own: AgentChoice
  /** Where they are set, if they are. */
  readonly ownAt?: DiagnosticTarget
  /** Model and agent set by the sprint or the workflow. */
  readonly fallback: AgentChoice
  readonly flow: PhaseFlow
  /** Names of the workflows that lead here, to detect cycles in the items' workflows. */
  readonly chain: readonly string[]
}

export type PhaseFlow = Pick<Phase, 'parallel' | 'waitForParallel' | 'break' | 'gate'>

export type Inlining = {
  readonly library: WorkflowLibrary
  readonly report: AddDiagnostic
  readonly budget: ExpansionBudget
  /** Model and agent of SPRINT.yaml, which override those of any workflow. */
  readonly sprintChoice: AgentChoice
}

type EnclosingPhase = {
  readonly chain: readonly string[]
  readonly prefix: string
  readonly own: AgentChoice
  readonly ownAt?: DiagnosticTarget
  readonly fallback: AgentChoice
}

export const topLevel: EnclosingPhase = { chain: [], prefix: '', own: {}, fallback: {} }

/** Returns the phases of a workflow and of every workflow that it inserts. Ids become `<phase>-<inner>`. */
export function inlineWorkflow(workflow: LoadedWorkflow, around: EnclosingPhase, inlining: Inlining): FlatPhase[] {
  const chain = [...around.chain, workflow.name]
  const fallback = mergeChoices(inlining.sprintChoice, mergeChoices(readAgentChoice(workflow.value), around.fallback))
  return (workflow.value.phases ?? []).flatMap((phase, index) => {
    if (inlining.budget.exceeded) return []
    const at = { parsed: workflow.parsed, path: ['phases', index] }
    const id = `${around.prefix}${phase.id}`
    const source = phase.model !== undefined || phase.agent !== undefined ? at : around.ownAt
    const choice = { own: mergeChoices(readAgentChoice(phase), around.own), fallback, ...(source && { ownAt: source }) }
    if (phase.workflow !== undefined && phase.forEach === undefined && phase.prompt === undefined)
      return insertWorkflow(phase, at, { chain, prefix: `${id}-`, ...choice }, inlining)
    if (!spendBudget(inlining.budget, { phases: 1 })) return []
    return [toFlatPhase({ phase, at, id, chain, ...choice })]
  })
}

type FlatPhaseInput = Pick<FlatPhase, 'at' | 'id' | 'chain' | 'own' | 'ownAt' | 'fallback'> & { readonly phase: Phase }

function toFlatPhase({ phase, ...rest }: FlatPhaseInput): FlatPhase {
  const { forEach, collection, workflow, prompt } = phase
  return {
    ...rest,
    ...(prompt !== undefined && { prompt: parseTemplate(prompt) }),
    ...(forEach !== undefined && {
      forEach: { type: forEach, collection: collection ?? forEach, ...(workflow !== undefined && { workflow }) },
    }),
    ...withGate(readFlow(phase)),
  }
}

const withGate = (flow: PhaseFlow): Pick<FlatPhase, 'flow' | 'gatePrompt'> => ({
  flow,
  ...(flow.gate && { gatePrompt: parseTemplate(flow.gate.onFail.prompt) }),
})

const readFlow = ({ parallel, waitForParallel, break: stop, gate }: Phase): PhaseFlow => ({
  ...(parallel === true && { parallel }),
  ...(waitForParallel === true && { waitForParallel }),
  ...(stop === true && { break: stop }),
  ...(gate && { gate }),
})

function insertWorkflow(phase: Phase, at: DiagnosticTarget, around: EnclosingPhase, inlining: Inlining): FlatPhase[] {
  const where = { ...at, path: [...at.path, 'workflow'] }
  const reference = { name: phase.workflow ?? unknownText, at: where, missing: 'PHASE_WORKFLOW_NOT_FOUND' as const }
  const inner = resolveInner(reference, around.chain, inlining)
  if (!inner) return []
  const phases = inlineWorkflow(inner, around, inlining)
  return applyOuterFlow(phases, { phase, at, report: inlining.report })
}

type InnerReference = Parameters<typeof resolveWorkflow>[0]

/** Resolves the workflow of a phase, an item or a hook, if it may be used there. */
export function resolveInner(reference: InnerReference, chain: readonly string[], inlining: Inlining) {
  const { name, at } = reference
  const { report, library } = inlining
  if (chain.includes(name)) {
    const message = `Workflows insert each other in a cycle: ${[...chain, name].join(' -> ')}`
    return report(errorAt(at, { code: 'CYCLE_DETECTED', message }))
  }
  if (chain.length >= maxDepth) {
    const message = `Workflows are nested more than ${maxDepth} deep: ${[...chain, name].join(' -> ')}`
    return report(errorAt(at, { code: 'MAX_DEPTH_EXCEEDED', message }))
  }
  const inner = resolveWorkflow(reference, library, report)
  if (!inner) return undefined
  if (isGoalDriven(inner.value)) {
    const message = `Workflow "${name}" is goal-driven (mode: ralph) and has no phases to insert`
    return report(errorAt(at, { code: 'INVALID_WORKFLOW_MODE', message }))
  }
  for (const field of ignoredFields(inner.value))
    report(
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
  const { checkpoint, keep, sandbox, cell, network, env, notify, review, retry, prompts, parallelExecution } = rest
  const fields = {
    'per-iteration-hooks': perIterationHooks,
    'done-when': doneWhen,
    'parallel-execution': parallelExecution,
    worktree,
    limits,
    timeouts,
    checkpoint,
    keep,
    sandbox,
    cell,
    network,
    env,
    notify,
    review,
    retry,
    prompts,
  }
  return Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [name]))
}

type OuterPhase = { readonly phase: Phase; readonly at: DiagnosticTarget; readonly report: Inlining['report'] }

/** Flow settings of the inserting phase apply to the whole insertion: the wait before the first phase, gate and break after the last. */
function applyOuterFlow(phases: readonly FlatPhase[], { phase, at, report }: OuterPhase): FlatPhase[] {
  const flow = readFlow(phase)
  const last = phases.length - 1
  if (flow.gate && phases[last]?.flow.gate)
    report(
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
