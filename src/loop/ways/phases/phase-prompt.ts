import { clipText } from '../../../contract/text.ts'
import type { CompiledStep, WorkRef } from '../../../contract/phases.ts'
import { fillPromptPart, type PromptVariables } from '../../../contract/prompt-variables.ts'
import {
  formatAnswer,
  formatFeedback,
  formatLearnings,
  formatSharedContext,
  formatMessages,
  promptLimits,
  quoteFenced,
  toOneLine,
  formatRefusals,
  defuseOldReportForm,
} from '../../core/prompt-sections.ts'
import type { Sprint } from '../../core/sprint.ts'
import type { PromptInput } from '../../core/way.ts'
import { listPhases } from './phases-state.ts'
import { getPhase, getStep, getWork, type PhaseWork } from './work.ts'

type PhasePromptInput = Pick<PromptInput, 'number' | 'work' | 'smallPrompt' | 'notes' | 'shared'>

/** Builds the prompt for one piece of work. The agent starts with a fresh context, so it contains everything the agent must know. */
export function buildPhasePrompt(sprint: Sprint, iteration: PhasePromptInput): string {
  const { work: ref, smallPrompt } = iteration
  if (!ref) return formatPhaseReporting()
  const work = getWork(sprint, ref)
  const step = ref.step === undefined ? undefined : getStep(sprint, ref)
  const place = { ref, work, step, number: iteration.number }
  const own = createSectionLookup(sprint, place)
  const sections = [
    own('header') ?? formatPhaseHeading(sprint, place),
    smallPrompt ? undefined : formatPurpose(sprint),
    formatSharedContext(iteration.shared),
    own('position') ?? formatPosition(sprint, place),
    work.error === undefined ? undefined : (own('retryWarning') ?? formatRetryWarning(work)),
    ...(ref.gateFix === undefined
      ? [formatItem(place), `## Your task\n\n${(work.prompt ?? '').trim()}`]
      : formatGateRepair(place)),
    formatRefusals(sprint, smallPrompt ? promptLimits.outputCharacters / 4 : promptLimits.outputCharacters),
    formatFeedback(sprint),
    formatAnswer(sprint),
    formatMessages(sprint),
    smallPrompt ? undefined : formatLearnings(iteration.notes),
    own('instructions') ?? formatPhaseRules(sprint, place),
    formatPhaseReporting(own('resultReporting')),
  ]
  return defuseOldReportForm(`${sections.filter((section) => section !== undefined).join('\n\n')}\n`)
}

type PromptWork = {
  readonly ref: WorkRef
  readonly work: PhaseWork
  readonly step: CompiledStep | undefined
  readonly number: number
}

/** Sections of the prompt that the sprint or its workflow replaces. */
function createSectionLookup(sprint: Sprint, place: PromptWork) {
  const { prompts = {} } = sprint.plan
  return (name: keyof NonNullable<Sprint['plan']['prompts']>): string | undefined => {
    const text = prompts[name]
    return text === undefined ? undefined : fillPromptPart(text, collectVariables(sprint, place)).trim()
  }
}

function collectVariables(sprint: Sprint, { ref, work, step, number }: PromptWork): PromptVariables {
  const phases = listPhases(sprint)
  const { steps = [] } = getPhase(sprint, ref.phase)
  const parts = step?.phases ?? []
  return {
    'sprint-id': sprint.id,
    iteration: String(number),
    'phase.id': ref.phase,
    'phase.index': formatIndex(phases, ref.phase),
    'phase.total': String(phases.length),
    ...(step && {
      'step.id': step.id,
      'step.prompt': step.prompt,
      'step.index': formatIndex(steps, step.id),
      'step.total': String(steps.length),
    }),
    ...(ref.subPhase !== undefined && {
      'sub-phase.id': ref.subPhase,
      'sub-phase.index': formatIndex(parts, ref.subPhase),
      'sub-phase.total': String(parts.length),
    }),
    'retry-count': String(work.retryCount ?? 0),
    error: work.error ?? '',
  }
}

const formatIndex = (units: readonly { readonly id: string }[], unitId: string): string =>
  String(units.findIndex(({ id }) => id === unitId) + 1)

const formatPhaseHeading = ({ id }: Sprint, { ref, number }: PromptWork): string =>
  `# Ralph: ${ref.gateFix === undefined ? '' : 'the gate of '}phase ${ref.phase}\n\nSprint ${id}, iteration ${number}. You work autonomously; no one can answer questions while you work.`

function formatPurpose({ plan: { goal } }: Sprint): string | undefined {
  const text = goal.trim()
  return text === '' ? undefined : `## What the sprint is for\n\n${text}`
}

function formatPosition(sprint: Sprint, place: PromptWork): string {
  const values = collectVariables(sprint, place)
  const lines = [
    `- phase ${values['phase.index']} of ${values['phase.total']}: ${place.ref.phase}`,
    ...(place.step ? [`- item ${values['step.index']} of ${values['step.total']}: ${place.step.id}`] : []),
    ...(Number(values['sub-phase.total'] ?? 0) > 1
      ? [`- part ${values['sub-phase.index']} of ${values['sub-phase.total']}: ${place.ref.subPhase}`]
      : []),
  ]
  return `## Where you are\n\n${lines.join('\n')}`
}

const formatRetryWarning = ({ error = '' }: PhaseWork): string =>
  `## An earlier attempt failed\n\n${quoteFenced(clipText(error, promptLimits.stepCharacters))}\n\nLook at what it left behind before you begin.`

/** Describes the item, unless the task already does. */
function formatItem({ work, step }: PromptWork): string | undefined {
  if (!step || (work.prompt ?? '').includes(step.prompt.trim())) return undefined
  return `## Item ${step.id}\n\n${step.prompt.trim()}`
}

function formatGateRepair({ work, ref }: PromptWork): (string | undefined)[] {
  const { gate, gateTracking } = work
  const { lastOutput = '', lastExitCode, error } = gateTracking ?? {}
  const why = error ?? `exit code ${lastExitCode ?? 'unknown'}`
  const output =
    lastOutput.trim() === '' ? 'It printed nothing.' : `Its output ends with:\n\n${quoteFenced(lastOutput)}`
  return [
    `## Your task\n\n${(gate?.onFailPrompt ?? '').trim()}`,
    `## The gate\n\nThe work of this phase was reported as completed. Then Ralph ran this script itself, and it failed (${why}), ${ref.gateFix} of ${gate?.maxRetries} times. The sprint continues only when it passes; Ralph runs it again when you are done.\n\n${quoteFenced(gate?.script ?? '')}\n\n${output}`,
    work.prompt === undefined ? undefined : `## What had been asked for\n\n${quoteFenced(work.prompt)}`,
  ]
}

function formatPhaseRules(sprint: Sprint, { ref }: PromptWork): string {
  const { worktree } = sprint.plan
  const lines = [
    'Do this task and nothing else, do it well, and verify it (run the tests, try it out). Then stop.',
    'Do not weaken, skip or delete tests or checks to make them pass.',
    ...(getPhase(sprint, ref.phase).parallel === true
      ? [
          'Others work in the same files at the same time: touch only what your task needs, and do not undo their changes.',
        ]
      : []),
    ...(worktree
      ? [`This folder is a git worktree on branch \`${worktree.branch}\`: stay in it, and on its branch.`]
      : []),
    "Leave `.claude/sprints/` alone: that is Ralph's own state.",
    'Never wait for input; do not start programs that ask or that keep running.',
  ]
  return `## Rules\n\n${lines.map((line) => `- ${line}`).join('\n')}`
}

/** The goal, and the list of what the phases ask for. */
export function describePurpose(sprint: Sprint): string {
  const prompts = listPhases(sprint).flatMap(({ id, prompt, steps = [] }) => [
    ...(prompt === undefined ? [] : [`- ${id}: ${toOneLine(prompt)}`]),
    ...steps.map((step) => `- ${id}, ${step.id}: ${toOneLine(step.prompt)}`),
  ])
  const listed = clipText(prompts.join('\n'), promptLimits.listCharacters)
  return [sprint.plan.goal.trim(), listed].filter((text) => text !== '').join('\n\nWhat was asked for, in order:\n\n')
}

/** Described without an example, as in goal-driven sprints, so that an echo is not a report. Users can replace the words, not the form. */
export const formatPhaseReporting = (words = howToReport): string => `## Report\n\n${words}\n\n${phaseReportFormat}`

const howToReport = 'End your final message with exactly one fenced JSON block of this form and nothing after it:'

const phaseReportFormat = `\`\`\`json
{
  "status": "<completed | failed | needs-human>",
  "summary": "<what you did, in one or two sentences>",
  "error": "<only with failed: what went wrong>",
  "humanNeeded": {"reason": "<only with needs-human: the question in one sentence>", "details": "<what a person must know>"}
}
\`\`\`

- completed: the whole task is done, and you have verified it.
- failed: it is not done, and you could not do it.
- needs-human: you cannot continue without a decision or something that only a person can give.`
