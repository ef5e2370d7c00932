import type { FleetSprint, SprintDiff } from '../../../contract/fleet/sprint.ts'
import { pluralize } from '../../../words/counts.ts'
import { describeProof } from '../../../words/proof-sentences.ts'
import { statusWords } from '../../../words/status.ts'

/** A patch that `git apply` takes; files without a patch are left out. */
export const createPatch = ({ files }: SprintDiff): string =>
  files
    .flatMap(({ path, patch }) => (patch === undefined ? [] : [withHeader(path, patch)]))
    .map((patch) => (patch.endsWith('\n') ? patch : `${patch}\n`))
    .join('')

const withHeader = (path: string, patch: string): string =>
  patch.startsWith('diff ') ? patch : `diff --git a/${path} b/${path}\n${patch}`

/** Markdown: the goal, what was done, and the evidence. */
export function describePullRequest({ progress }: FleetSprint, { files }: SprintDiff): string {
  const { goal, ralphExit, stats, doneWhen = [], status } = progress
  const [title = goal, ...rest] = goal.split('\n')
  const proof = ralphExit.proof && describeProof(ralphExit.proof)
  const lines = [
    `# ${title}`,
    ...(rest.length > 0 ? ['', rest.join('\n').trim()] : []),
    ...(ralphExit.finalSummary === null ? [] : ['', ralphExit.finalSummary]),
    '',
    '## Evidence',
    '',
    `- Ralph: ${statusWords[status].sentence.toLowerCase()}, after ${pluralize(stats.currentIteration, 'iteration')}`,
    ...doneWhen.map(({ name, run }) => `- Check: \`${name ?? run}\``),
    ...(proof ? [`- ${proof.sentence}; Ralph ran the checks ${proof.room}`] : []),
    ...(proof?.labels ?? []).map((label) => `- ${label}`),
    ...(proof?.groups ?? []).flatMap(({ title: group, names }) => [
      `- ${group}:`,
      ...names.map((name) => `  - ${name}`),
    ]),
    '',
    `## Files (${files.length})`,
    '',
    ...files.map(({ path, added, removed }) => `- ${path} (+${added} −${removed})`),
  ]
  return `${lines.join('\n')}\n`
}
