import { join } from 'node:path'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { readPlainText } from '../../platform/files/files.ts'
import type { RedactFactory } from '../../runtime/redact-ports.ts'

/** Reads LEARNINGS.md of a sprint. The agent writes it, so a secret in it is removed from the file too. */
export async function readLearnings(sprintDir: string, redactor: RedactFactory): Promise<string | undefined> {
  const file = join(sprintDir, 'LEARNINGS.md')
  const text = readPlainText(file)
  if (text === undefined) return undefined
  const clean = redactor()(text)
  if (clean !== text) await writeFileAtomic(file, clean)
  return clean
}
