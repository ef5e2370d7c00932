import { unlimitedIterations, type IterationRecord, type Progress } from '../contract/progress.ts'

export const agentText = ({ agent, model }: Pick<IterationRecord, 'agent' | 'model'>): string =>
  [...new Set([agent, model])].filter((name) => name !== undefined && name !== '').join(' ')

export function checksText({ checks = [], review }: IterationRecord): string {
  const passed = checks.filter((check) => check.passed).length
  const parts = [
    ...(checks.length > 0 ? [`${passed}/${checks.length} ${passed === checks.length ? '✓' : '✗'}`] : []),
    ...(review ? [`review ${review.passed ? '✓' : '✗'}`] : []),
  ]
  return parts.join(' ')
}

/** `9/40`, or `9` without a limit. */
export const iterationText = ({ stats }: Progress): string =>
  stats.maxIterations < unlimitedIterations
    ? `${stats.currentIteration}/${stats.maxIterations}`
    : String(stats.currentIteration)
