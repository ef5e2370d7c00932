import type { SprintStatus } from '../contract/progress.ts'
import type { Tone } from './tone.ts'

export type StatusWords = {
  /** The chip on the page. */
  readonly label: string
  readonly tone: Tone
  /** The headline of a finished run. */
  readonly ending: string
  /** A whole sentence, for annotations. */
  readonly sentence: string
}

export const statusWords: Readonly<Record<SprintStatus, StatusWords>> = {
  'not-started': {
    label: 'Waiting for its turn',
    tone: 'quiet',
    ending: 'not started',
    sentence: 'The sprint has not started',
  },
  'in-progress': { label: 'Running', tone: 'info', ending: 'in progress', sentence: 'The sprint is running' },
  paused: { label: 'Paused', tone: 'quiet', ending: 'paused', sentence: 'The sprint is paused' },
  'paused-at-breakpoint': {
    label: 'Paused at a breakpoint',
    tone: 'warn',
    ending: 'paused at a breakpoint',
    sentence: 'The sprint is paused at a breakpoint',
  },
  parked: { label: 'Parked', tone: 'warn', ending: 'parked', sentence: 'The sprint is parked' },
  'needs-human': { label: 'Needs you', tone: 'warn', ending: 'a human is needed', sentence: 'A human is needed' },
  completed: { label: 'Done', tone: 'ok', ending: 'goal reached', sentence: 'The goal is reached' },
  blocked: { label: 'Blocked', tone: 'bad', ending: 'blocked', sentence: 'The sprint is blocked' },
  failed: { label: 'Failed', tone: 'bad', ending: 'failed', sentence: 'The sprint has failed' },
  'limit-reached': {
    label: 'Limit reached',
    tone: 'warn',
    ending: 'limit reached',
    sentence: 'The sprint has reached a limit',
  },
  interrupted: {
    label: 'Stopped',
    tone: 'quiet',
    ending: 'interrupted',
    sentence: 'The sprint was interrupted',
  },
}

/** `claude`; for a command only the distinguishing part: `node my-agent.mjs`. */
export function programName(program: string): string {
  if (!program.startsWith('command:')) return program
  const words = program.slice('command:'.length).split(' ').slice(0, 2)
  return words.map((word) => word.split('/').at(-1)).join(' ')
}

/** `claude · opus`; the model is left out if it says no more. */
export const describeProgram = (program: string, model: string | undefined): string =>
  [...new Set([programName(program), model])].filter(Boolean).join(' · ')
