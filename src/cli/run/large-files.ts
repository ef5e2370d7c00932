import type { WorkspaceOptions } from '../../storage/git/repositories.ts'
import { findLargeFileQuestions } from '../../storage/git/workspace.ts'
import { confirm } from '../io/confirm.ts'
import type { Io } from '../io/io.ts'

/** Before the first checkpoint: hashing such a file takes minutes. Without a terminal it is left out, and the run says so. */
export async function askAboutLargeFiles(options: WorkspaceOptions, io: Io): Promise<void> {
  if (!io.canAsk) return
  for (const { name, size, accept } of await findLargeFileQuestions(options).catch(() => [])) {
    const question = `${name} has ${size} and is not in git. Store it in checkpoints, so that "ralph restore" can bring it back?`
    if (await confirm(question, io)) await accept()
  }
}
