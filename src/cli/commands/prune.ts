import { defaultKeep } from '../../contract/settings.ts'
import { formatPeriod } from '../../contract/time.ts'
import { pruneSprint, type PruneReport } from '../../storage/sprint/prune-sprint.ts'
import { lockSprintFolder } from '../../storage/state/sprint-lock.ts'
import { formatBytes, formatCount } from '../../words/counts.ts'
import { defineCommand } from '../io/command.ts'
import { resolveSprintWorkspace } from '../sprint/changes.ts'
import { findSprint } from '../sprint/find-sprint.ts'
import { requireProgress } from '../sprint/sprint-state.ts'

export const prune = defineCommand({
  name: 'prune',
  summary: 'Remove old transcripts and checkpoints of a sprint',
  arguments: ['[sprint]'],
  options: {
    'dry-run': { type: 'boolean', short: 'n', description: 'only show what would be removed' },
    json: { type: 'boolean', description: 'print {dryRun, transcripts, checkpoints} as JSON' },
  },
  details: `Every run does this when it ends. "keep" in SPRINT.yaml says what stays; by default transcripts of 30 days and 200 checkpoints.
The first checkpoint, that of the accepted iteration, and what a restore has replaced always stay. So does the journal.`,
  examples: ['ralph prune --dry-run', 'ralph prune auth'],
  async run({ values, positionals: [sprintArgument] }, io) {
    const { sprintDir } = await findSprint(sprintArgument, io)
    const progress = await requireProgress(sprintDir, io)
    const isDry = values['dry-run'] === true
    const options = { ...resolveSprintWorkspace(sprintDir, progress, io), progress, now: io.now() }
    // A run prunes by itself.
    const lock = isDry ? undefined : lockSprintFolder({ sprintDir, now: io.now })
    const report = await pruneSprint(options, isDry ? 'count' : 'remove').finally(() => lock?.release())
    if (values.json === true) io.print(JSON.stringify({ dryRun: isDry, ...report }))
    else for (const line of pruneLines(report, { isDry, keep: progress.keep ?? defaultKeep })) io.print(line)
    return 0
  },
})

function pruneLines(
  { transcripts, checkpoints }: PruneReport,
  { isDry, keep }: { readonly isDry: boolean; readonly keep: typeof defaultKeep },
): string[] {
  const age = keep.transcripts === 'all' ? 'all' : formatPeriod(keep.transcripts)
  const removed = isDry ? 'would remove' : 'removed'
  if (transcripts.files === 0 && checkpoints === 0)
    return [`nothing to remove (keep: transcripts ${age}, checkpoints ${keep.checkpoints})`]
  const upTo = transcripts.upToIteration === undefined ? '' : `, up to iteration ${transcripts.upToIteration}`
  return [
    `${removed} transcripts: ${formatCount(transcripts.files)} files, ${formatBytes(transcripts.bytes)}${upTo} (keep ${age})`,
    `${removed} checkpoints: ${formatCount(checkpoints)} (keep ${keep.checkpoints})`,
  ]
}
