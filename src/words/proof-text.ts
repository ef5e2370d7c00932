import type { Progress } from '../contract/progress.ts'

/** What a reader must know about how a goal was reached; undefined if it was not. */
export function describeExit({ ralphExit, status }: Pick<Progress, 'ralphExit' | 'status'>): string | undefined {
  if (status !== 'completed') return undefined
  const { unchecked, unproven, proof } = ralphExit
  const { labels = [], tests } = proof ?? {}
  const words = [
    ...(unchecked === true ? ['unchecked: the sprint has no check'] : []),
    ...(unproven === true ? ['unproven: the checks pass, but nothing shows that the work did it'] : []),
    ...labels,
    ...(tests && tests.fixed.length > 0 ? [`${tests.fixed.length} fixed`] : []),
    ...(tests && tests.added.length > 0 ? [`${tests.added.length} new`] : []),
    ...(tests?.flaky && tests.flaky.length > 0 ? [`flaky: ${tests.flaky.join(', ')}`] : []),
  ]
  return words.length === 0 ? undefined : words.join('; ')
}
