import { createHash } from 'node:crypto'
import type { Progress } from '../../contract/progress.ts'

/** The id of a sprint's row: stable for the same folder of the same agent, on every replica. */
export function observedRowId(agentId: string, folderName: string): string {
  const bytes = createHash('sha256').update(`${agentId}/${folderName}`).digest().subarray(0, 16)
  bytes[6] = 0x80 | (bytes.readUInt8(6) & 0x0f)
  bytes[8] = 0x80 | (bytes.readUInt8(8) & 0x3f)
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

/** The progress to show. A progress that claims to be running without a process is shown as interrupted. */
export function progressToShow(progress: Progress, owner: 'running' | 'gone'): Progress {
  const saysAtWork = progress.status === 'in-progress' || progress.status === 'parked'
  if (owner === 'running' || !saysAtWork) return progress
  return { ...progress, status: 'interrupted', reason: 'the process that ran the sprint is gone and did not finish it' }
}

/** The progress to show for a sprint whose folder is gone: it neither runs nor accepts an answer. */
export const progressWithoutFolder = ({ humanNeeded: _asked, parked: _parked, ...progress }: Progress): Progress => ({
  ...progress,
  status: 'interrupted',
  reason: 'its folder no longer exists',
})

/** Whether the folder now holds a different sprint than the known one: it was emptied, or the sprint started over. */
export function isDifferentSprint(known: Progress, progress: Progress): boolean {
  const before = known.stats.startedAt
  if (known.sprintId !== progress.sprintId || progress.rev < known.rev) return true
  return before !== null && progress.stats.startedAt !== before
}
