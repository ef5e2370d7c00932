import type { Progress } from '../contract/progress.ts'
import { formatHumanDuration } from './durations.ts'
import { formatCost } from './money.ts'
import { evidenceLines } from './pull-request.ts'
import { toOneLine } from './text.ts'

const maxSubject = 72
const maxLine = 100

/** A subject from the goal, the agent's summary, and the evidence. */
export function describeCommit(progress: Progress): string {
  const { goal, ralphExit, sprintId, stats } = progress
  const [first = '', ...rest] = goal.trim().split('\n')
  const subject = cutAtWord(toOneLine(first), maxSubject)
  const more = [...(subject.endsWith('…') ? [first] : []), ...rest].join('\n').trim()
  const parts = [
    subject === '' ? `Work of the sprint ${sprintId}` : subject,
    ...(more === '' ? [] : [more.split('\n').flatMap(wrapWords).join('\n')]),
    ...(ralphExit.finalSummary === null ? [] : [wrapWords(ralphExit.finalSummary).join('\n')]),
    [
      ...evidenceLines(progress, toOneLine),
      `- Time and cost: ${formatHumanDuration(stats.activeMs)}, ${formatCost(stats)}`,
    ].join('\n'),
    `Ralph-Sprint: ${sprintId}`,
  ]
  return `${parts.join('\n\n')}\n`
}

function cutAtWord(text: string, width: number): string {
  if (text.length <= width) return text
  const cut = text.slice(0, width - 1)
  const space = cut.lastIndexOf(' ')
  return `${(space > width / 2 ? cut.slice(0, space) : cut).trimEnd()}…`
}

/** Foreign text in lines of a readable length, without what could steer a terminal. */
function wrapWords(text: string): string[] {
  const lines: string[] = []
  for (const word of toOneLine(text).split(' ')) {
    const last = lines.at(-1)
    if (last !== undefined && last.length + word.length < maxLine) lines[lines.length - 1] = `${last} ${word}`
    else lines.push(word)
  }
  return lines
}
