import { stepId } from '../../contract/ids.ts'
import type { Step } from '../../contract/progress.ts'
import { readStepStatus } from './step-status.ts'
import { isRecord, readCount, readText, readTime, type FileRecord } from './file-fields.ts'

/** Completed steps first, as the loop keeps them; the order within each group stays. */
export function importSteps(value: unknown, at: number, notes: string[]): Step[] {
  const entries = Array.isArray(value) ? value.filter(isRecord) : []
  const used = new Set<string>()
  const numbers = entries.map((entry) => Number(/^step-(\d{1,9})$/.exec(String(entry['id']))?.[1] ?? -1))
  let next = Math.max(-1, ...numbers) + 1
  const steps = entries.flatMap((entry): Step[] => {
    const prompt = readText(entry['prompt'])
    if (prompt === undefined) {
      notes.push(`step ${String(entry['id'])} has no prompt and was left behind`)
      return []
    }
    const seedId = readText(entry['id'])
    const id = seedId === undefined || seedId.length > 200 || used.has(seedId) ? stepId(next++) : seedId
    if (id !== seedId)
      notes.push(
        `step ${String(seedId)} became ${id}: ${seedId === undefined ? 'it had no id' : 'its id was used before'}`,
      )
    used.add(id)
    return [importStep(entry, { id, prompt, at })]
  })
  return [...steps.filter(isCompleted), ...steps.filter((step) => !isCompleted(step))]
}

const isCompleted = ({ status }: Step): boolean => status === 'completed'

function importStep(
  entry: FileRecord,
  { id, prompt, at }: { readonly id: string; readonly prompt: string; readonly at: number },
): Step {
  const status = readStepStatus(entry['status'])
  const completedAt = readTime(entry['completed-at'])
  return {
    id,
    prompt,
    status,
    addedAt: readTime(entry['added-at']) ?? at,
    addedInIteration: readCount(entry['added-in-iteration']) ?? 0,
    ...(status === 'completed' && completedAt !== undefined && { completedAt }),
  }
}
