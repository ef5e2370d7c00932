import { RalphError } from '../../contract/errors.ts'
import { postRequest } from '../../storage/sprint/requests.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import { resolveAnswer } from '../../loop/core/question.ts'
import type { Io } from '../io/io.ts'
import type { FoundSprint } from './find-sprint.ts'
import { recordFact } from './record-fact.ts'
import { loadProgress, requireProgress } from './sprint-state.ts'

export type StopMoment = 'iteration' | 'turn' | 'now'
export type StopStatus = 'paused' | 'interrupted'

/** Asks the owner of a running sprint to end the run, and returns the owner. */
export async function requestStop(
  { sprintDir, name }: FoundSprint,
  { as, when }: { readonly as: StopStatus; readonly when: StopMoment },
  io: Io,
): Promise<string> {
  const owner = readSprintOwner(sprintDir)
  if (owner === undefined) {
    const status = (await loadProgress(sprintDir))?.status ?? 'not-started'
    throw new RalphError('NOT_RUNNING', `this sprint is not running: it is ${status}`, { place: { file: name } })
  }
  if (!(await postRequest(sprintDir, { type: 'stop', as, when }, io.now()))) throw noResponseError(owner, name)
  return owner
}

/** Sends the agent a message. Returns true if it interrupts the agent, false if it waits for the next prompt. */
export async function sendMessage(
  { sprintDir, name }: FoundSprint,
  { text, now }: { readonly text: string; readonly now: boolean },
  io: Io,
): Promise<boolean> {
  if (text.trim() === '') throw new RalphError('USAGE', 'tell: the message is empty')
  const owner = readSprintOwner(sprintDir)
  if (owner === undefined) {
    const { status } = await requireProgress(sprintDir, io)
    if (status === 'completed') {
      throw new RalphError('NOT_RUNNING', 'the sprint is completed, so no prompt would contain the message', {
        place: { file: name },
        hint: followUpHint(name),
      })
    }
    await recordFact(sprintDir, { type: 'told', at: io.now(), text, now: false }, io)
    return false
  }
  if (!(await postRequest(sprintDir, { type: 'tell', text, now }, io.now()))) throw noResponseError(owner, name)
  return now
}

/** The open question of a sprint, or an error. */
export async function requireQuestion({ sprintDir, name }: FoundSprint, io: Io) {
  const { humanNeeded, status } = await requireProgress(sprintDir, io)
  if (humanNeeded) return humanNeeded
  const isNew = status === 'not-started'
  const state = isNew ? 'has not run yet' : `is ${status}`
  const message = status === 'completed' ? followUpHint(name) : `to send the agent a message: ralph tell ${name} "…"`
  throw new RalphError('NO_QUESTION', `there is no open question: the sprint ${state}`, {
    place: { file: name },
    hint: isNew ? `start it with: ralph run ${name}` : message,
  })
}

const followUpHint = (name: string): string => `continue from it with: ralph follow-up ${name} "…"`

/** Answers the open question of a sprint by text or by the number of an option. Returns the question and the chosen answer. */
export async function answerQuestion(
  sprint: FoundSprint,
  text: string,
  io: Io,
): Promise<{ readonly question: string; readonly answer: string }> {
  if (text.trim() === '') throw new RalphError('USAGE', 'answer: the answer is empty')
  const { options = [], ...question } = await requireQuestion(sprint, io)
  if (options.length > 0 && /^\d+$/.test(text.trim()) && options[Number(text) - 1] === undefined) {
    throw new RalphError('USAGE', `answer: there is no option ${text.trim()}`, {
      hint: `choose 1 to ${options.length}, or answer in words`,
    })
  }
  await recordFact(sprint.sprintDir, { type: 'answered', at: io.now(), answer: text }, io)
  return { question: question.reason, answer: resolveAnswer({ options }, text) }
}

export const noResponseError = (owner: string, name: string): RalphError =>
  new RalphError('NOT_RUNNING', `${owner} runs this sprint but does not respond`, {
    place: { file: name },
    hint: 'it may be suspended or stuck; it will find the request when it continues',
  })
