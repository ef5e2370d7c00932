import type { CheckResult } from '../contract/progress.ts'
import { describeExit } from './event-sentences.ts'

/** How each check ended, and the output of those that failed. */
export const checkOutputLines = (results: readonly CheckResult[]): string[] =>
  results.flatMap(({ name, passed, exitCode, reason, output }) => [
    `== check ${name}: ${passed ? 'passed' : describeExit({ error: reason, exitCode })}`,
    ...(passed ? [] : output.trimEnd().split('\n')),
  ])
