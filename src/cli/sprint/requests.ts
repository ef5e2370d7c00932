import { RalphError } from '../../contract/errors.ts'
import { postRequest } from '../../storage/sprint/requests.ts'
import { readSprintOwner } from '../../storage/state/sprint-lock.ts'
import type { Io } from '../io/io.ts'
import { recordFact } from './record-fact.ts'
import { requireProgress } from './sprint-state.ts'

/** A sprint as the user named it. */
type NamedSprint = { readonly sprintDir: string; readonly given: string }

export type StopMoment = 'iteration' | 'turn' | 'now'
export type StopStatus = 'paused' | 'interrupted'

/** Asks the owner of a running sprint to end the run, and returns the owner. */
export async function requestStop(
  { sprintDir, given }: NamedSprint,
  { as, when }: { readonly as: StopStatus; readonly when: StopMoment },
  io: Io,
): Promise<string> {
  const owner = readSprintOwner(sprintDir)
  if (owner === undefined) throw new RalphError('NOT_RUNNING', 'this sprint is not running', { place: { file: given } })
  if (!(await postRequest(sprintDir, { type: 'stop', as, when }, io.now()))) throw noResponseError(owner, given)
  return owner
}

/** Sends the agent a message. Returns true if it interrupts the agent, false if it waits for the next prompt. */
export async function sendMessage(
  { sprintDir, given }: NamedSprint,
  { text, now }: { readonly text: string; readonly now: boolean },
  io: Io,
): Promise<boolean> {
  if (text.trim() === '') throw new RalphError('USAGE', 'tell: the message is empty')
  const owner = readSprintOwner(sprintDir)
  if (owner === undefined) {
    await recordFact(sprintDir, { type: 'told', at: io.now(), text, now: false }, io)
    return false
  }
  if (!(await postRequest(sprintDir, { type: 'tell', text, now }, io.now()))) throw noResponseError(owner, given)
  return now
}

/** Answers the open question of a sprint, and returns the question. */
export async function answerQuestion({ sprintDir, given }: NamedSprint, answer: string, io: Io): Promise<string> {
  if (answer.trim() === '') throw new RalphError('USAGE', 'answer: the answer is empty')
  const { humanNeeded } = await requireProgress(sprintDir, io)
  if (!humanNeeded) throw new RalphError('FACT_ILLEGAL', 'there is no open question', { place: { file: given } })
  await recordFact(sprintDir, { type: 'answered', at: io.now(), answer }, io)
  return humanNeeded.reason
}

export const noResponseError = (owner: string, given: string): RalphError =>
  new RalphError('NOT_RUNNING', `${owner} runs this sprint but does not respond`, {
    place: { file: given },
    hint: 'it may be suspended or stuck; it will find the request when it continues',
  })
