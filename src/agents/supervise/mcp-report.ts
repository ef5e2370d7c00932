import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Outcome } from '../../contract/outcome.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { createFolder, readPlainText, readTextIfExists } from '../../platform/files/files.ts'

const reportFile = join('told', 'report.json')

/** The fields that all reports share; the loop validates the rest. */
const McpReport = z.looseObject({
  completedStepIds: z.array(z.string()).optional(),
  pendingSteps: z.array(z.unknown()).optional(),
})

/** Stores the report that an agent made with the MCP tool. Steps that it reported before stay reported. */
export async function storeMcpReport(folder: string, report: Readonly<Record<string, unknown>>): Promise<void> {
  const before = McpReport.safeParse(parseJsonOrUndefined(await readTextIfExists(join(folder, reportFile)))).data ?? {}
  const now = McpReport.parse(report)
  const steps = {
    completedStepIds: [...new Set([...(before.completedStepIds ?? []), ...(now.completedStepIds ?? [])])],
    pendingSteps: now.pendingSteps ?? before.pendingSteps ?? [],
  }
  await createFolder(dirname(join(folder, reportFile)))
  await writeFileAtomic(join(folder, reportFile), JSON.stringify({ ...now, ...steps }))
}

/**
 * Adds the report made with the MCP tool to the outcome, as a block before the final message: it counts like a report in the
 * message, and a block in the message itself, which is newer, takes precedence.
 */
export function withMcpReport(outcome: Outcome, folder: string): Outcome {
  if (outcome.status !== 'ok') return outcome
  const report = parseJsonOrUndefined(readPlainText(join(folder, reportFile)))
  if (report === undefined) return outcome
  return { ...outcome, text: `\`\`\`json\n${JSON.stringify(report)}\n\`\`\`\n\n${outcome.text}` }
}

function parseJsonOrUndefined(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}
