import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import type { Sandbox } from '../../agents/cells/sandbox.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { runCaptured, type CapturedJob, type CapturedRun } from '../../platform/processes/captured-process.ts'

export type ConfinedJob = CapturedJob & {
  /** Folders besides its work tree. */
  readonly read: readonly string[]
  readonly write: readonly string[]
}

/** Runs a command in the cell of the sprint: a check outside the clean room runs what the agent wrote, too. */
export type Confine = (job: ConfinedJob) => Promise<CapturedRun>

export const confineIn =
  (sandbox: Sandbox, sprintDir: string): Confine =>
  async ({ read, write, ...job }) => {
    const [file, ...args] = job.argv
    const folder = join(stateFolder(sprintDir), 'attempts', `check-${randomUUID()}`)
    try {
      const command = { file, args, env: job.env }
      const place = { folder, sprintDir, cwd: job.cwd, read, write }
      const program = await sandbox.around(command, place)
      return await runCaptured({ ...job, argv: [program.file, ...program.args], env: program.env })
    } finally {
      await sandbox.clear({ folder, sprintDir })
    }
  }
