import type { SprintEvent } from '../contract/events.ts'
import type { LogEntry } from './telemetry.ts'

/** Sentences without a word of prompts, answers or files: a log leaves the computer. */
export function describeEvent(event: SprintEvent): Pick<LogEntry, 'level' | 'text'> | undefined {
  switch (event.type) {
    case 'sprint-started':
      return { level: 'info', text: event.resumed ? 'sprint resumed' : 'sprint started' }
    case 'attempt-failed':
      return { level: 'warning', text: `attempt ${event.attempt} failed: ${event.class}` }
    case 'report-rejected':
      return { level: 'warning', text: 'report rejected' }
    case 'claim-made':
      return { level: 'info', text: 'the agent claims that the goal is reached' }
    case 'claim-refused':
      return { level: 'warning', text: `claim refused by ${event.by.join(', ')}` }
    case 'claim-accepted':
      return { level: 'info', text: `claim accepted by ${event.by.join(', ')}` }
    case 'question-asked':
      return { level: 'warning', text: 'the sprint waits for an answer' }
    case 'sprint-rested':
      return { level: event.status === 'failed' ? 'error' : 'info', text: `sprint ${event.status}` }
    case 'note':
    case 'iteration-started':
    case 'attempt-started':
    case 'agent':
    case 'steps-changed':
    case 'check-started':
    case 'check-ended':
    case 'gate-started':
    case 'gate-ended':
    case 'work-ended':
    case 'breakpoint-reached':
    case 'hook-started':
    case 'hook-ended':
    case 'iteration-ended':
    case 'user-said':
      return undefined
  }
}
