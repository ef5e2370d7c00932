import type { IterationRecord, Progress } from '../../contract/progress.ts'
import { clip, humanDuration, oneLine } from '../io/paint.ts'
import { money } from '../view/receipt.ts'
import { endings } from '../view/run-report.ts'

/** The job summary of a sprint in Markdown: final status, totals, and every iteration. */
export function jobSummary(progress: Progress, folder: string): string {
  const { status, reason, goal, sprintId, iterations } = progress
  const mark = status === 'completed' ? '✅' : status === 'failed' || status === 'blocked' ? '❌' : '⏸️'
  return [
    `## ${mark} Ralph: ${endings[status]}`,
    '',
    ...(reason === undefined ? [] : [text(reason, 500), '']),
    `**Goal:** ${text(goal, 500)}`,
    '',
    ...table(['', ''], overview(progress, sprintId, folder)),
    '',
    ...questionOf(progress, folder),
    ...(iterations.length === 0 ? [] : iterationTable(iterations)),
  ].join('\n')
}

function overview({ stats, iterations, ...progress }: Progress, sprintId: string, folder: string): string[][] {
  const refused = iterations.filter(({ verdict }) => verdict === 'refused').length
  const again = refused === 0 ? '' : `, ${refused} with a refused claim`
  return [
    ['Sprint', `${code(sprintId)} in ${code(folder)}`],
    ['Iterations', `${stats.currentIteration}${again}`],
    ['Steps', `${stats.completedSteps} of ${stats.totalSteps} completed`],
    ['Checks', checksOf(progress, iterations)],
    ['Cost', money(stats)],
    ['Time', humanDuration(stats.activeMs)],
  ]
}

/** The results of the last run of each check. */
function checksOf({ doneWhen = [] }: Pick<Progress, 'doneWhen'>, iterations: readonly IterationRecord[]): string {
  const last = iterations.findLast(({ checks }) => checks !== undefined)?.checks ?? []
  const marks = new Map(last.map(({ name, passed }) => [name, passed ? '✅' : '❌']))
  const names = doneWhen.length > 0 ? doneWhen.map(({ name, run }) => name ?? run) : [...marks.keys()]
  return names.map((name) => `${marks.get(name) ?? '·'} ${code(name)}`).join('<br>') || 'none (unchecked)'
}

function questionOf({ humanNeeded }: Progress, folder: string): string[] {
  if (!humanNeeded) return []
  const { reason, details, options = [] } = humanNeeded
  return [
    '### A human is needed',
    '',
    `**${text(reason, 500)}**`,
    '',
    ...(details.trim() === '' ? [] : [text(details, 2000), '']),
    ...options.map((option, index) => `${index + 1}. ${text(option, 300)}`),
    ...(options.length === 0 ? [] : ['']),
    `Answer with ${code(`ralph answer ${folder} "…"`)}, then ${code(`ralph run ${folder}`)}.`,
    '',
  ]
}

function iterationTable(iterations: readonly IterationRecord[]): string[] {
  const rows = iterations.map((record) => {
    const { number, mode, verdict, agent = '', model = '', checks = [], startedAt, endedAt, summary = '' } = record
    const passed = checks.filter((check) => check.passed).length
    return [
      String(number),
      mode,
      verdict,
      text(`${agent} ${model}`, 60),
      checks.length === 0 ? '' : `${passed}/${checks.length}`,
      money(record),
      humanDuration(endedAt - startedAt),
      text(summary, 200),
    ]
  })
  return [
    '### Iterations',
    '',
    ...table(['#', 'mode', 'verdict', 'agent', 'checks', 'cost', 'time', 'summary'], rows),
    '',
  ]
}

const table = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${head.join(' | ')} |`,
  `| ${head.map(() => '---').join(' | ')} |`,
  ...rows.map((cells) => `| ${cells.join(' | ')} |`),
]

/** Foreign text on one line, with Markdown, HTML and mentions escaped. */
const text = (said: string, most: number): string =>
  clip(oneLine(said), most)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_{}[\]|#~]/g, (sign) => `\\${sign}`)
    .replaceAll('@', '@\u200b')

/** A backtick would end the code span, and a bar ends a table cell even inside code. */
const code = (said: string): string => `\`${oneLine(said).replaceAll('`', "'").replaceAll('|', '\\|')}\``
