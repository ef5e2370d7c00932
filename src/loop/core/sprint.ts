import type { LiveIteration, Progress, SprintStatus } from '../../contract/progress.ts'

/**
 * The state of a sprint as the loop sees it. Files, journals and the API store it as the flat `Progress`;
 * `progress-codec.ts` converts between the two.
 */
export type Sprint = {
  readonly id: string
  readonly rev: number
  readonly plan: Plan
  readonly way: WayState
  /** Undefined before the first run. */
  readonly run: RunState | undefined
  readonly live: LiveIteration[]
  readonly status: SprintStatus
  readonly reason?: string | undefined
  readonly parked?: Progress['parked']
  /** What a person has to answer first. */
  readonly question?: Progress['humanNeeded']
  readonly inbox: Inbox
  readonly history: History
  readonly stats: Progress['stats']
}

/** What SPRINT.yaml and its workflows configure. Only `recompiled` changes it, and `started` adds detected checks. */
export const planFields = [
  'name',
  'owner',
  'created',
  'workflow',
  'goal',
  'agent',
  'model',
  'doneWhen',
  'proof',
  'frozen',
  'mayChange',
  'seal',
  'room',
  'review',
  'limits',
  'timeouts',
  'env',
  'prices',
  'checkpoint',
  'keep',
  'sandbox',
  'cell',
  'network',
  'notify',
  'worktree',
  'retry',
  'prompts',
  'report',
  'parallelExecution',
  'perIterationHooks',
] as const satisfies readonly (keyof Progress)[]
export type Plan = Pick<Progress, (typeof planFields)[number]>

/** Why the sprint stops, when, and what the command line chose. The next run replaces all of it but the agents. */
export type RunState = {
  readonly limits?: Progress['runLimits']
  readonly agents?: Progress['runAgents']
  readonly choice?: Progress['runChoice']
  readonly stopRequested?: Progress['stopRequested']
  readonly ending?: Progress['ending']
  /** Consecutive failures. */
  readonly failure?: Progress['failure']
}

/** What the next prompt includes. A valid report clears it. */
export const inboxFields = [
  'answer',
  'messages',
  'refusedBy',
  'claimPrompt',
  'feedback',
] as const satisfies readonly (keyof Progress)[]
export type Inbox = Pick<Progress, (typeof inboxFields)[number]>

/** What happened so far, as far as later decisions need it. */
export const historyFields = [
  'worktreeState',
  'agentLimits',
  'failedStarts',
  'baseline',
  'checkFiles',
  'proofBaseline',
  'unprovenClaims',
  'claimQuestion',
  'notifications',
  'iterations',
  'hookTasks',
  'walls',
  'ralphExit',
] as const satisfies readonly (keyof Progress)[]
export type History = Pick<Progress, (typeof historyFields)[number]>

/** The state of the way in which a sprint works. The file requires the first fields of every sprint. */
export const wayFields = [
  'mode',
  'protocol',
  'ralph',
  'dynamicSteps',
  'phases',
  'dependencyGraph',
  'current',
  'error',
  'failedPhase',
  'blockedAt',
  'breakpointPhaseId',
] as const satisfies readonly (keyof Progress)[]

/** Steps towards a goal, one iteration after the other. */
export type StepsState = { readonly concurrent: false } & Pick<Progress, 'mode' | 'protocol' | 'ralph' | 'dynamicSteps'>
/** Phases of a workflow, some of them at the same time. */
export type PhasesState = { readonly concurrent: true } & Pick<Progress, (typeof wayFields)[number]>

/** `concurrent`: several iterations may run, so the sprint rests only when all of them have ended. */
export type WayState = StepsState | PhasesState

export const setRun = (sprint: Sprint, run: RunState): Sprint => ({ ...sprint, run: { ...sprint.run, ...run } })

export const setInbox = (sprint: Sprint, inbox: Inbox): Sprint => ({ ...sprint, inbox: { ...sprint.inbox, ...inbox } })

export const setHistory = (sprint: Sprint, history: Partial<History>): Sprint => ({
  ...sprint,
  history: { ...sprint.history, ...history },
})

export const setStats = (sprint: Sprint, stats: Partial<Sprint['stats']>): Sprint => ({
  ...sprint,
  stats: { ...sprint.stats, ...stats },
})
