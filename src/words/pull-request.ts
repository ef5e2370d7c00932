import type { Progress } from '../contract/progress.ts'
import { pluralize } from './counts.ts'
import { escapeReportText } from './markdown.ts'
import { describeProof } from './proof-sentences.ts'
import { statusWords } from './status.ts'

type ChangedLines = { readonly path: string; readonly added: number; readonly removed: number }

/** Markdown: the goal, what was done, and the evidence. */
export function describePullRequest(progress: Progress, files: readonly ChangedLines[]): string {
  const { goal, ralphExit } = progress
  const [title = goal, ...rest] = goal.trim().split('\n')
  const lines = [
    `# ${escapeReportText(title)}`,
    ...(rest.length > 0 ? ['', ...rest.map(escapeReportText)] : []),
    ...(ralphExit.finalSummary === null ? [] : ['', escapeReportText(ralphExit.finalSummary)]),
    '',
    '## Evidence',
    '',
    ...evidenceLines(progress, escapeReportText),
    '',
    `## Files (${files.length})`,
    '',
    ...files.map(({ path, added, removed }) => `- ${escapeReportText(path)} (+${added} −${removed})`),
  ]
  return `${lines.join('\n')}\n`
}

/** How the goal was reached, as a list: the checks, the proof, and the tests by name. `show` formats foreign text. */
export function evidenceLines(progress: Progress, show: (text: string) => string): string[] {
  const { ralphExit, stats, doneWhen = [], status } = progress
  const proof = ralphExit.proof && describeProof(ralphExit.proof)
  return [
    `- Ralph: ${statusWords[status].sentence.toLowerCase()}, after ${pluralize(stats.currentIteration, 'iteration')}`,
    ...doneWhen.map(({ name, run }) => `- Check: ${show(name ?? run)}`),
    ...(ralphExit.unchecked === true ? ['- Unchecked: the sprint has no check'] : []),
    ...(proof ? [`- ${proof.sentence}; Ralph ran the checks ${proof.room}`] : []),
    ...(proof?.labels ?? []).map((label) => `- ${show(label)}`),
    ...(proof?.groups ?? []).flatMap(({ title, names }) => [
      `- ${title}:`,
      ...names.map((name) => `  - ${show(name)}`),
    ]),
  ]
}
