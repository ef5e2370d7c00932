import type { IterationRecord, Progress } from '../../contract/progress.ts'
import { clipLine, toOneLine } from '../../words/text.ts'
import { formatHumanDuration } from '../../words/durations.ts'
import { formatCost } from '../../words/money.ts'
import { describeExit } from '../../words/proof-text.ts'
import { statusWords } from '../../words/status.ts'

/** The job summary of a sprint in Markdown: final status, totals, and every iteration. */
export function formatJobSummary(progress: Progress, folder: string): string {
  const { status, reason, goal, sprintId, iterations } = progress
  const mark = status === 'completed' ? '✅' : status === 'failed' || status === 'blocked' ? '❌' : '⏸️'
  return [
    `## ${mark} Ralph: ${statusWords[status].ending}`,
    '',
    ...(reason === undefined ? [] : [escapeMarkdownText(reason, 500), '']),
    `**Goal:** ${escapeMarkdownText(goal, 500)}`,
    '',
    ...markdownTable(['', ''], summaryOverview(progress, sprintId, folder)),
    '',
    ...summaryQuestion(progress, folder),
    ...(iterations.length === 0 ? [] : iterationTable(iterations)),
  ].join('\n')
}

function summaryOverview({ stats, iterations, ...progress }: Progress, sprintId: string, folder: string): string[][] {
  const refused = iterations.filter(({ verdict }) => verdict === 'refused').length
  const proof = describeExit(progress)
  const again = refused === 0 ? '' : `, ${refused} with a refused claim`
  return [
    ['Sprint', `${markdownCode(sprintId)} in ${markdownCode(folder)}`],
    ['Iterations', `${stats.currentIteration}${again}`],
    ['Steps', `${stats.completedSteps} of ${stats.totalSteps} completed`],
    ['Checks', summaryChecks(progress, iterations)],
    ...(proof === undefined ? [] : [['Proof', escapeMarkdownText(proof, 500)]]),
    ['Cost', formatCost(stats)],
    ['Time', formatHumanDuration(stats.activeMs)],
  ]
}

/** The results of the last run of each check. */
function summaryChecks({ doneWhen = [] }: Pick<Progress, 'doneWhen'>, iterations: readonly IterationRecord[]): string {
  const last = iterations.findLast(({ checks }) => checks !== undefined)?.checks ?? []
  const marks = new Map(last.map(({ name, passed }) => [name, passed ? '✅' : '❌']))
  const names = doneWhen.length > 0 ? doneWhen.map(({ name, run }) => name ?? run) : [...marks.keys()]
  return names.map((name) => `${marks.get(name) ?? '·'} ${markdownCode(name)}`).join('<br>') || 'none (unchecked)'
}

function summaryQuestion({ humanNeeded }: Progress, folder: string): string[] {
  if (!humanNeeded) return []
  const { reason, details, options = [] } = humanNeeded
  return [
    '### A human is needed',
    '',
    `**${escapeMarkdownText(reason, 500)}**`,
    '',
    ...(details.trim() === '' ? [] : [escapeMarkdownText(details, 2000), '']),
    ...options.map((option, index) => `${index + 1}. ${escapeMarkdownText(option, 300)}`),
    ...(options.length === 0 ? [] : ['']),
    `Answer with ${markdownCode(`ralph answer ${folder} "…"`)}, then ${markdownCode(`ralph run ${folder}`)}.`,
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
      escapeMarkdownText(`${agent} ${model}`, 60),
      checks.length === 0 ? '' : `${passed}/${checks.length}`,
      formatCost(record),
      formatHumanDuration(endedAt - startedAt),
      escapeMarkdownText(summary, 200),
    ]
  })
  return [
    '### Iterations',
    '',
    ...markdownTable(['#', 'mode', 'verdict', 'agent', 'checks', 'cost', 'time', 'summary'], rows),
    '',
  ]
}

const markdownTable = (head: readonly string[], rows: readonly (readonly string[])[]): string[] => [
  `| ${head.join(' | ')} |`,
  `| ${head.map(() => '---').join(' | ')} |`,
  ...rows.map((cells) => `| ${cells.join(' | ')} |`),
]

/** Foreign text on one line, with Markdown, HTML and mentions escaped. */
const escapeMarkdownText = (text: string, maxLength: number): string =>
  clipLine(toOneLine(text), maxLength)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll(/[\\`*_{}[\]|#~]/g, (sign) => `\\${sign}`)
    .replaceAll('@', '@\u200b')

/** A backtick would end the code span, and a bar ends a table cell even inside code. */
const markdownCode = (text: string): string => `\`${toOneLine(text).replaceAll('`', "'").replaceAll('|', '\\|')}\``
