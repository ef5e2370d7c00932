import { z } from 'zod'
import type { AgentWorkspace, Estimate } from '../../../contract/fleet/agent.ts'
import { formatCap, formatUsd } from '../../../words/money.ts'
import { formatDurationShort } from '../../../words/durations.ts'
import { pluralize } from '../../../words/counts.ts'

const optionalText = z.string().default('')

/** What the user has typed so far, unparsed. Stored, so that closing the dialog loses nothing. */
export const Draft = z.object({
  protocol: z.enum(['notes', 'report']).default('notes'),
  task: optionalText,
  agentId: optionalText,
  /** For a new agent. */
  name: optionalText,
  machineId: optionalText,
  workspace: z.enum(['worktree', 'folder', 'clone']).default('worktree'),
  path: optionalText,
  repository: optionalText,
  branch: optionalText,
  program: optionalText,
  model: optionalText,
  /** Detected checks that are disabled, and the user's own. */
  skipped: z.array(z.string()).default([]),
  checks: z.array(z.string()).default([]),
  iterations: z.string().default('40'),
  usd: z.string().default('10'),
  hours: optionalText,
  noProgress: z.string().default('5'),
  ifBusy: z.enum(['queue', 'interrupt']).default('queue'),
})
export type Draft = z.output<typeof Draft>

export const emptyDraft: Draft = Draft.parse({})
export const newAgent = 'new'

const key = 'ralph.start'

export function loadDraft(): Draft {
  try {
    return Draft.parse(JSON.parse(localStorage.getItem(key) ?? '{}'))
  } catch {
    return emptyDraft
  }
}

export const saveDraft = (draft: Draft): void => localStorage.setItem(key, JSON.stringify(draft))
export const deleteDraft = (): void => localStorage.removeItem(key)

/** An empty field is no limit. */
const parseNumber = (text: string): number | undefined => (text.trim() === '' ? undefined : Number(text))

export function draftLimits({ iterations, usd, hours, noProgress }: Draft) {
  const inHours = parseNumber(hours)
  return {
    iterations: parseNumber(iterations),
    usd: parseNumber(usd),
    durationMs: inHours === undefined ? undefined : Math.round(inHours * 3_600_000),
    noProgress: parseNumber(noProgress),
  }
}

/** Enabled detected checks, then the user's own; undefined if nothing is known, so that the machine detects them. */
export function draftChecks(
  { skipped, checks }: Draft,
  detected: readonly { readonly run: string; readonly name: string }[] | undefined,
) {
  const own = checks.filter((run) => run.trim() !== '').map((run) => ({ run: run.trim() }))
  if (detected === undefined) return own.length > 0 ? own : undefined
  return [...detected.filter(({ run }) => !skipped.includes(run)).map(({ run, name }) => ({ run, name })), ...own]
}

/** The workspace of a new agent. */
export function draftWorkspace({ workspace, ...typed }: Draft): AgentWorkspace {
  const [path, repository, branch] = [typed.path.trim(), typed.repository.trim(), typed.branch.trim()]
  switch (workspace) {
    case 'folder':
      return { kind: 'folder', path }
    case 'clone':
      return { kind: 'clone', repository, ...(branch !== '' && { branch }) }
    case 'worktree':
      return { kind: 'worktree', path, branch }
  }
}

export type DraftProblems = Partial<
  Record<
    'task' | 'agentId' | 'name' | 'path' | 'repository' | 'branch' | 'iterations' | 'usd' | 'hours' | 'noProgress',
    string
  >
>

/** Validation errors by field. */
export function validateDraft(draft: Draft): DraftProblems {
  const making = draft.agentId === newAgent
  const found: { [K in keyof DraftProblems]: string | undefined } = {
    task: requiredText(draft.task, 'Describe the task'),
    agentId: requiredText(draft.agentId, 'Choose an agent'),
    name: making ? requiredText(draft.name, 'Enter a name') : undefined,
    path: making && draft.workspace !== 'clone' ? requiredText(draft.path, 'Enter a folder') : undefined,
    repository:
      making && draft.workspace === 'clone' ? requiredText(draft.repository, 'Enter a repository') : undefined,
    branch: making && draft.workspace === 'worktree' ? requiredText(draft.branch, 'Enter a branch') : undefined,
    iterations: wholeProblem(draft.iterations),
    usd: positiveProblem(draft.usd),
    hours: positiveProblem(draft.hours),
    noProgress: wholeProblem(draft.noProgress),
  }
  return Object.fromEntries(Object.entries(found).filter(([, problem]) => problem !== undefined))
}

const requiredText = (text: string, words: string): string | undefined => (text.trim() === '' ? words : undefined)

const positiveProblem = (text: string): string | undefined => {
  const value = parseNumber(text)
  return value === undefined || value > 0 ? undefined : 'Enter a number above 0, or leave it empty'
}

const wholeProblem = (text: string): string | undefined => {
  const value = parseNumber(text)
  return value === undefined || (Number.isInteger(value) && value > 0)
    ? undefined
    : 'Enter a whole number, or leave it empty'
}

/** The button describes its effect: where the agent will work, then its limits. */
export function describeStart(draft: Draft, busy: boolean, place: string | undefined): string {
  const verb = busy ? (draft.ifBusy === 'queue' ? 'Queue' : 'Interrupt and start') : 'Start'
  return place === undefined ? verb : `${verb} ${place}`
}

export function describeStartLimits(draft: Draft): string {
  const { iterations, usd } = draftLimits(draft)
  return [
    iterations === undefined ? 'no iteration limit' : `up to ${pluralize(iterations, 'iteration')}`,
    usd === undefined ? 'no cap' : `${formatCap(usd)} cap`,
  ].join(', ')
}

/** `median iteration 6 m 12 s, $0.42; 40 iterations: up to $16.80` */
export function describeEstimate({ iterations, medianMs, medianUsd }: Estimate, draft: Draft): string | undefined {
  if (iterations === 0 || medianMs === undefined) return undefined
  const most = draftLimits(draft).iterations
  const one = [formatDurationShort(medianMs), ...(medianUsd === undefined ? [] : [formatUsd(medianUsd)])].join(', ')
  const all =
    most === undefined || medianUsd === undefined
      ? ''
      : `; ${most} of them: about ${formatUsd(most * medianUsd)} and ${formatDurationShort(most * medianMs)}`
  return `Median of ${pluralize(iterations, 'iteration')} here: ${one}${all}`
}
