import type { AskUser, Interview } from '../io/terminal-interview.ts'
import { parseDuration } from '../../contract/time.ts'
import type { LimitInputs } from '../sprint/sprint-files.ts'

/** Values that are already known are not asked for. */
export type KnownAnswers = {
  readonly goal?: string | undefined
  readonly checks?: readonly string[] | undefined
  readonly agent?: string | undefined
  readonly limits: LimitInputs
  /** The checks detected in the project. */
  readonly foundChecks: readonly string[]
  readonly foundAgents: readonly string[]
  /** The default limits. */
  readonly defaultLimits: LimitInputs
}

export type InterviewAnswers = Pick<KnownAnswers, 'goal' | 'checks' | 'agent' | 'limits'>

/**
 * Asks for missing values, one question at a time; Enter accepts the default. Returns undefined if the user cancelled.
 */
export async function runInterview(
  known: KnownAnswers,
  { ask, say }: Interview,
): Promise<InterviewAnswers | undefined> {
  try {
    const to = { ask: orCancel(ask), say }
    const goal = known.goal ?? (await askGoal(to))
    const checks = known.checks ?? (await askChecks(known.foundChecks, to))
    const agent = known.agent ?? (await askAgent(known.foundAgents, to))
    const limits = await askLimits(known, to)
    return { goal, checks, agent, limits }
  } catch (error) {
    if (error === cancelled) return undefined
    throw error
  }
}

const cancelled = new Error('the user cancelled')

type InterviewIo = { readonly ask: (question: string) => Promise<string>; readonly say: (text: string) => void }

const orCancel = (ask: AskUser) => async (question: string) => {
  const answer = await ask(question)
  if (answer === undefined) throw cancelled
  return answer.trim()
}

async function askGoal({ ask }: InterviewIo): Promise<string | undefined> {
  const answer = await ask('What should the agent achieve? (Enter to fill in later)\n> ')
  return answer === '' ? undefined : answer
}

async function askChecks(found: readonly string[], { ask, say }: InterviewIo): Promise<readonly string[] | undefined> {
  say('\nRalph runs this check itself before it accepts that the goal is reached.')
  const shown = found.length > 0 ? found.join(', ') : 'detected when the sprint starts'
  const answer = await ask(`Which command must pass? "none" for no check [${shown}]\n> `)
  if (answer === '') return found.length > 0 ? found : undefined
  return answer.toLowerCase() === 'none' ? [] : [answer]
}

async function askAgent(found: readonly string[], { ask, say }: InterviewIo): Promise<string | undefined> {
  const [first] = found
  if (first === undefined) {
    say('\nNo agent program is installed yet; see: ralph agents')
    return undefined
  }
  const choices = found.map((name, index) => `${index + 1} ${name}`).join('   ')
  const question = found.length === 1 ? '\nAgent program' : `\nWhich agent program?   ${choices}`
  for (;;) {
    const answer = await ask(`${question} [${first}]\n> `)
    const chosen = answer === '' ? first : (found[Number(answer) - 1] ?? answer)
    if (found.includes(chosen) || /^(acp|command):./.test(chosen)) return chosen
    say(`"${answer}" is not installed; installed: ${found.join(', ')}`)
  }
}

const limitQuestions = [
  {
    name: 'iterations',
    question: 'Maximum number of iterations',
    isValid: (text: string) => /^[1-9]\d*$/.test(text),
  },
  { name: 'usd', question: 'Maximum cost in dollars', isValid: (text: string) => Number(text) > 0 },
  {
    name: 'duration',
    question: 'Maximum working time, such as 2h',
    isValid: (text: string) => parseDuration(text) > 0,
  },
] as const

async function askLimits(
  { limits, defaultLimits: usualLimits }: KnownAnswers,
  { ask, say }: InterviewIo,
): Promise<LimitInputs> {
  const answers: Record<string, string | undefined> = { ...limits }
  let isFirst = true
  for (const { name, question, isValid } of limitQuestions) {
    const usual = usualLimits[name] ?? 'off'
    while (answers[name] === undefined) {
      const answer = await ask(`${isFirst ? '\n' : ''}${question} [${usual}] `)
      isFirst = false
      const value = answer === '' ? usual : answer
      if (value === 'off' || isValid(value)) answers[name] = value
      else say(`"${answer}" is not a valid limit; use "off" for no limit`)
    }
  }
  return answers
}
