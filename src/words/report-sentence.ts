import { PhaseReport, Report } from '../contract/report.ts'
import { pluralize } from './counts.ts'

export type SpokenReport = {
  /** What the agent said around its report. */
  readonly text: string
  /** The report in one sentence. */
  readonly sentence: string
  readonly json: string
}

const fence = /```(?:json)?\s*\n([\s\S]*?)```/g

/** Finds the report in a message of an agent; undefined if there is none that Ralph would accept. */
export function findReport(message: string): SpokenReport | undefined {
  for (const { 0: block, 1: json = '', index } of [...message.matchAll(fence)].toReversed()) {
    const sentence = describeReport(json)
    if (sentence === undefined) continue
    const text = `${message.slice(0, index)}${message.slice(index + block.length)}`.trim()
    return { text, sentence, json: json.trim() }
  }
  const sentence = message.trim().startsWith('{') ? describeReport(message) : undefined
  return sentence === undefined ? undefined : { text: '', sentence, json: message.trim() }
}

function describeReport(json: string): string | undefined {
  const value = parseJson(json)
  const report = Report.safeParse(value).data
  if (report) return describeStatus(report)
  const phase = PhaseReport.safeParse(value).data
  return phase && `Reports ${phase.status}: ${phase.summary}`
}

function describeStatus(report: Report): string {
  switch (report.status) {
    case 'goal-complete':
      return `Reports that the goal is reached: ${report.goalCompleteSummary}`
    case 'needs-human':
      return `Asks a person: ${report.humanNeeded.reason}`
    case 'continue': {
      const { completedStepIds: done, pendingSteps: open } = report
      const steps = [
        ...(done.length > 0 ? [`${pluralize(done.length, 'step')} completed`] : []),
        ...(open.length > 0 ? [`${pluralize(open.length, 'step')} open`] : []),
      ]
      return `Reports progress: ${report.summary}${steps.length > 0 ? ` (${steps.join(', ')})` : ''}`
    }
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
