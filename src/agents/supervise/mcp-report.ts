import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Outcome } from '../../contract/outcome.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { makeFolder, readTextIfThere, readTextSyncIfThere } from '../../platform/files/files.ts'

const reportFile = join('told', 'report.json')

/** The fields that all reports share; the loop validates the rest. */
const Told = z.looseObject({
  completedStepIds: z.array(z.string()).optional(),
  pendingSteps: z.array(z.unknown()).optional(),
})

/** Stores the report that an agent made with the MCP tool. Steps that it reported before stay reported. */
export async function tellReport(folder: string, report: Readonly<Record<string, unknown>>): Promise<void> {
  const before = Told.safeParse(parsed(await readTextIfThere(join(folder, reportFile)))).data ?? {}
  const now = Told.parse(report)
  const steps = {
    completedStepIds: [...new Set([...(before.completedStepIds ?? []), ...(now.completedStepIds ?? [])])],
    pendingSteps: now.pendingSteps ?? before.pendingSteps ?? [],
  }
  await makeFolder(dirname(join(folder, reportFile)))
  await writeFileAtomic(join(folder, reportFile), JSON.stringify({ ...now, ...steps }))
}

/**
 * Adds the report made with the MCP tool to the outcome, as a block before the final message: it counts like a report in the
 * message, and a block in the message itself, which is newer, takes precedence.
 */
export function withToldReport(outcome: Outcome, folder: string): Outcome {
  if (outcome.status !== 'ok') return outcome
  const report = parsed(readTextSyncIfThere(join(folder, reportFile)))
  if (report === undefined) return outcome
  return { ...outcome, text: `\`\`\`json\n${JSON.stringify(report)}\n\`\`\`\n\n${outcome.text}` }
}

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
