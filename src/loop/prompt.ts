import type { LiveIteration, Mode, Progress, Step } from '../contract/progress.ts'
import { isStuck } from './limits.ts'

/** How much of each list a prompt shows, so that its size does not grow with the sprint. */
const most = {
  pendingSteps: 50,
  completedSteps: 20,
  stepCharacters: 2000,
  listCharacters: 12_000,
  outputCharacters: 8000,
}

export type PromptFor = Pick<LiveIteration, 'number' | 'mode' | 'step' | 'smallPrompt'> & {
  /** What earlier iterations have learned (LEARNINGS.md of the sprint). */
  readonly notes?: string | undefined
}

/** The prompt of one iteration. The agent starts with a fresh context, so everything it must know is in here. */
export function buildPrompt(progress: Progress, iteration: PromptFor): string {
  const background = iteration.smallPrompt ? [] : [learnings(iteration.notes)]
  const sections = [
    heading(progress, iteration),
    `## Goal\n\n${progress.goal.trim()}`,
    ...bodies[iteration.mode](progress, iteration),
    stuck(progress),
    refusals(progress, iteration.smallPrompt ? most.outputCharacters / 4 : most.outputCharacters),
    feedback(progress),
    answer(progress),
    messages(progress),
    ...background,
    rules(progress),
    reporting,
  ]
  return withoutOlderForm(`${sections.filter((section) => section !== undefined).join('\n\n')}\n`)
}

/** Goals, steps and outputs can contain anything, also the older form of a report. An echo of it must not be one. */
const withoutOlderForm = (prompt: string): string => prompt.replaceAll('RALPH_COMPLETE:', 'RALPH_COMPLETE :')

const bodies: Record<Mode, (progress: Progress, iteration: PromptFor) => (string | undefined)[]> = {
  planning: (progress) => [task('planning'), extra(progress.ralph.goalPrompt), completedSteps(progress)],
  executing: (progress, { step, smallPrompt }) => [
    currentStep(progress, step),
    task('executing'),
    ...(smallPrompt ? [] : [pendingSteps(progress, step), completedSteps(progress)]),
  ],
  reflecting: (progress, { number }) => [
    task('reflecting'),
    extra(progress.ralph.reflectionPrompt),
    pendingSteps(progress, undefined),
    completedSteps(progress),
    minIterations(progress, number),
  ],
}

const heading = ({ sprintId, stats }: Progress, { number, mode }: PromptFor): string => {
  const limit = stats.maxIterations < 1_000_000 ? ` of at most ${stats.maxIterations}` : ''
  return `# Ralph: ${mode}\n\nSprint ${sprintId}, iteration ${number}${limit}. You work autonomously; nobody answers while you work.`
}

const tasks: Record<Mode, string> = {
  planning: `## Your task

1. Look at the project as it is now, before you decide anything.
2. Break the goal into concrete steps, each small enough to be done well in one session and with a result that can be checked.
3. Report the steps in the order in which they are to be done. You may do the first one now; then leave it out of pendingSteps.`,
  executing: `## Your task

Do this one step and do it well: look at the code first, make the change, and verify it (run the tests, try it out). If it is
already done, say so and report it as completed. If you find that more is needed for the goal, report new steps instead of
doing them now. Then stop.`,
  reflecting: `## Your task

Stop and think: the work does not go on by itself. Look at the project as it is now and decide:

- The goal is fully reached, every criterion in it: verify it yourself, then report goal-complete.
- Something is missing: report it as new steps.
- You cannot go on without a person: report needs-human with one clear question.`,
}

const task = (mode: Mode): string => tasks[mode]

const extra = (text: string | undefined): string | undefined => text?.trim() || undefined

function currentStep(progress: Progress, id: string | undefined): string {
  const step = progress.dynamicSteps.find((candidate) => candidate.id === id)
  if (!step) return '## Current step\n\nNone is pending any more; report what you see.'
  return `## Current step: ${step.id}\n\n${step.prompt.trim()}`
}

function pendingSteps(progress: Progress, current: string | undefined): string | undefined {
  const others = progress.dynamicSteps.filter((step) => step.status === 'pending' && step.id !== current)
  if (others.length === 0) return undefined
  const lines = bounded(
    others.map((step) => line(step)),
    most.pendingSteps,
  )
  return `## Other pending steps (for orientation, not for now)\n\n${lines}`
}

function completedSteps(progress: Progress): string | undefined {
  const completed = progress.dynamicSteps.filter((step) => step.status === 'completed')
  if (completed.length === 0) return undefined
  const last = completed.slice(-most.completedSteps).map((step) => line(step))
  const earlier = progress.stats.completedSteps - last.length
  const note = earlier > 0 ? `- (${earlier} earlier ones)\n` : ''
  return `## Completed steps\n\n${note}${bounded(last, most.completedSteps)}`
}

/** Cut before its lines are joined: a step can be a megabyte of blanks, and joining is quadratic in them. */
const line = ({ id, prompt }: Step): string => `- ${id}: ${clip(prompt.trim(), 300).replaceAll(/\s*\n\s*/g, ' ')}`

function bounded(lines: readonly string[], count: number): string {
  let size = 0
  const fitting = lines.slice(0, count).filter((text) => (size += text.length + 1) <= most.listCharacters)
  const left = lines.length - fitting.length
  return [...fitting, ...(left > 0 ? [`- (and ${left} more)`] : [])].join('\n')
}

function refusals({ refusedBy = [], baseline = [] }: Progress, characters: number): string | undefined {
  if (refusedBy.length === 0) return undefined
  const share = characters / refusedBy.length
  const wasRed = (check: string) => baseline.some(({ name, passed }) => name === check && !passed)
  return refusedBy
    .map(({ name, output, reason, exitCode }) => {
      const why = reason ?? `exit code ${exitCode}`
      return `## Refused: ${name}\n\nRalph ran this check itself and it failed (${why}${wasRed(name) ? '; it was red before the sprint began too' : ''}). The goal is not reached before it passes. Its output ends with:\n\n${quoted(clipStart(output, share))}`
    })
    .join('\n\n')
}

function feedback({ feedback: failed = [] }: Progress): string | undefined {
  if (failed.length === 0) return undefined
  const share = most.outputCharacters / failed.length
  return failed
    .map(({ hookId, output }) => `## Hook ${hookId} failed\n\n${quoted(clipStart(output, share))}`)
    .join('\n\n')
}

function answer({ answer: given }: Progress): string | undefined {
  if (!given) return undefined
  return `## A person answered\n\nQuestion: ${clip(given.question, most.stepCharacters)}\n\nAnswer: ${clip(given.answer, most.stepCharacters)}`
}

function messages({ messages: said = [] }: Progress): string | undefined {
  if (said.length === 0) return undefined
  return `## A person says\n\n${said.map(({ text }) => clip(text.trim(), most.stepCharacters)).join('\n\n')}`
}

function stuck(progress: Progress): string | undefined {
  if (!isStuck(progress)) return undefined
  return `## No progress\n\nIn the last ${progress.stats.withoutProgress} iterations no file, step or check has changed. Whatever was tried does not work: find out why, and plan another way as new steps, or ask a person.`
}

function learnings(notes: string | undefined): string | undefined {
  const text = notes?.trim()
  if (!text) return undefined
  return `## Learned in earlier iterations\n\n${quoted(clip(text, most.listCharacters))}`
}

function minIterations({ ralph }: Progress, number: number): string | undefined {
  if (number >= ralph.minIterations) return undefined
  return `goal-complete is accepted from iteration ${ralph.minIterations} on. Until then look deeper: edge cases, tests, documentation.`
}

function rules({ doneWhen = [] }: Progress): string {
  const checks = doneWhen.map(
    ({ name, run }) => `\n  - ${name === undefined || name === run ? '' : `${name}: `}\`${run}\``,
  )
  const gate =
    checks.length > 0
      ? `goal-complete is a claim. Ralph then runs these checks itself and accepts it only if all pass:${checks.join('')}`
      : 'goal-complete is a claim: make sure that it is true.'
  return `## Rules

- ${gate}
- Do not weaken, skip or delete tests or checks to make them pass.
- Leave \`.claude/sprints/\` alone: that is Ralph's own state.
- Never wait for input; do not start programs that ask or that keep running.`
}

/**
 * The format is described, not exemplified: nothing in a prompt may itself be a valid report, or an agent that only repeats
 * its prompt would report something. The words in angle brackets keep this block from validating.
 */
const reporting = `## Report

End your final message with exactly one fenced JSON block of this form and nothing after it:

\`\`\`json
{
  "status": "<continue | goal-complete | needs-human>",
  "summary": "<what you did in this iteration, in one or two sentences>",
  "completedStepIds": ["<ids of the pending steps that are now done>"],
  "pendingSteps": [
    {"id": "<id of a pending step>", "prompt": "<its text, changed if need be>"},
    {"id": null, "prompt": "<text of a new step>"}
  ],
  "goalCompleteSummary": "<only with goal-complete: what was reached and how it was verified>",
  "humanNeeded": {"reason": "<only with needs-human: the question in one sentence>", "details": "<what a person must know>"}
}
\`\`\`

- continue: there is more to do. pendingSteps gives the order of what is to be done next; steps that you leave out stay pending behind them.
- goal-complete: the whole goal is reached and you have verified it.
- needs-human: you cannot go on without a decision or something that only a person can give.`

/** Asks, in the same session, only for the report that was missing. */
export const buildRepairPrompt = (reason: string): string => `Your last message had no valid report: ${oneLine(reason)}.

Do not do any more work. Answer with the report about the work that you have just done, and with nothing else.

${reporting}
`

const oneLine = (text: string): string => clip(text, 300).replaceAll(/\s+/g, ' ')

/** Untrusted text in a fence that it cannot close. */
export function quoted(text: string): string {
  const longest = [...text.matchAll(/`{3,}/g)].reduce((size, [run]) => (run.length > size ? run.length : size), 2)
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}text\n${text.trimEnd()}\n${ticks}`
}

const clip = (text: string, size: number): string => (text.length <= size ? text : `${text.slice(0, size)}…`)

const clipStart = (text: string, size: number): string => (text.length <= size ? text : `…${text.slice(-size)}`)
