import { clipText } from '../../contract/text.ts'
import type { Sprint } from './sprint.ts'

/** Maximum size of each list in a prompt, so that prompts do not grow with the sprint. */
export const promptLimits = {
  pendingSteps: 50,
  completedSteps: 20,
  criteria: 50,
  stepCharacters: 2000,
  listCharacters: 12_000,
  outputCharacters: 8000,
}

/** Goals, steps and outputs may contain the old form of a report; defuse it, so that an echo is not read as a report. */
export const defuseOldReportForm = (prompt: string): string => prompt.replaceAll('RALPH_COMPLETE:', 'RALPH_COMPLETE :')

/** Describes the checks that failed when they last ran. */
export function formatRefusals(sprint: Sprint, characters: number): string | undefined {
  const { claimPrompt } = sprint.inbox
  const claim =
    claimPrompt === undefined ? [] : [`## The claim was not accepted\n\n${clipText(claimPrompt, characters)}`]
  const sections = [...claim, ...formatRedChecks(sprint, characters)]
  return sections.length > 0 ? sections.join('\n\n') : undefined
}

function formatRedChecks({ inbox, history }: Sprint, characters: number): string[] {
  const { refusedBy = [] } = inbox
  const { baseline = [] } = history
  const share = characters / refusedBy.length
  const wasRed = (check: string) => baseline.some(({ name, passed }) => name === check && !passed)
  return refusedBy.map(({ name, output, reason, exitCode }) => {
    const why = reason ?? `exit code ${exitCode}`
    return `## Refused: ${name}\n\nRalph ran this check itself and it failed (${why}${wasRed(name) ? '; it was already failing before the sprint began' : ''}). The goal is not reached until it passes. Its output ends with:\n\n${quoteFenced(clipTextStart(output, share))}`
  })
}

export function formatFeedback({ inbox: { feedback: failed = [] } }: Sprint): string | undefined {
  if (failed.length === 0) return undefined
  const share = promptLimits.outputCharacters / failed.length
  return failed
    .map(({ hookId, output }) => `## Hook ${hookId} failed\n\n${quoteFenced(clipTextStart(output, share))}`)
    .join('\n\n')
}

const clipStep = (text: string): string => clipText(text, promptLimits.stepCharacters)

export function formatAnswer({ inbox: { answer: answered } }: Sprint): string | undefined {
  if (!answered) return undefined
  const { question, details = '', options = [], answer } = answered
  const choices = options.map((option, index) => `${index + 1}. ${clipStep(option)}`).join('\n')
  return [
    '## A person answered',
    `Question: ${clipStep(question)}`,
    ...(details.trim() === '' ? [] : [clipStep(details.trim())]),
    ...(choices === '' ? [] : [`Options:\n${choices}`]),
    `Answer: ${clipStep(answer)}`,
  ].join('\n\n')
}

export function formatMessages({ inbox: { messages = [] } }: Sprint): string | undefined {
  if (messages.length === 0) return undefined
  return `## A person says\n\n${messages.map(({ text }) => clipText(text.trim(), promptLimits.stepCharacters)).join('\n\n')}`
}

export function formatLearnings(notes: string | undefined): string | undefined {
  const text = notes?.trim()
  if (!text) return undefined
  return `## Learned in earlier iterations\n\n${quoteFenced(clipText(text, promptLimits.listCharacters))}`
}

/** What the user wants every agent of the sprint to know, in their own words. */
export function formatSharedContext(shared: string | undefined): string | undefined {
  const text = shared?.trim()
  return text ? `## Shared context\n\n${clipText(text, promptLimits.listCharacters)}` : undefined
}

export const toOneLine = (text: string): string => clipText(text, 300).replaceAll(/\s+/g, ' ')

/** Quotes untrusted text in a fence that it cannot close. */
export function quoteFenced(text: string): string {
  const longest = [...text.matchAll(/`{3,}/g)].reduce((size, [run]) => (run.length > size ? run.length : size), 2)
  const ticks = '`'.repeat(longest + 1)
  return `${ticks}text\n${text.trimEnd()}\n${ticks}`
}

const clipTextStart = (text: string, size: number): string => (text.length <= size ? text : `…${text.slice(-size)}`)
