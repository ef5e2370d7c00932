import { CompiledPhase } from '../../contract/phases.ts'
import { decodeList, isRecord, type FileRecord } from './file-fields.ts'

/**
 * The compiled phases of m42-sprint. What was in progress is pending again: its process is gone. Fields that Ralph does not
 * have (`elapsed`, `parallel-task-id` …) stay in the copy of the file.
 */
export const importPhases = (value: unknown, notes: string[]): CompiledPhase[] =>
  decodeList(CompiledPhase, listRecords(value).map(toPhase), 'phases', notes)

const toPhase = (phase: FileRecord): FileRecord => ({
  ...toWork(phase, phaseFields),
  ...(Array.isArray(phase['steps']) && { steps: listRecords(phase['steps']).map(toStep) }),
})

const toStep = (step: FileRecord): FileRecord => ({
  ...toWork(step, stepFields),
  phases: listRecords(step['phases']).map((part) => toWork(part, phaseFields)),
})

const workFields = ['id', 'prompt', 'model', 'started-at', 'completed-at', 'summary', 'error', 'error-category']
const stepFields = [...workFields, 'depends-on', 'retry-count']
const phaseFields = [...workFields, 'retry-count', 'parallel', 'wait-for-parallel', 'break']
const gateFields = ['script', 'on-fail-prompt', 'max-retries', 'timeout']

const toWork = (unit: FileRecord, names: readonly string[]): FileRecord => ({
  ...pickFields(unit, names),
  ...(isRecord(unit['gate']) && names === phaseFields && { gate: pickFields(unit['gate'], gateFields) }),
  status: readStatus(unit['status']),
})

const pickFields = (unit: FileRecord, names: readonly string[]): FileRecord =>
  Object.fromEntries(
    names.flatMap((name) => (unit[name] === undefined || unit[name] === null ? [] : [[name, unit[name]]])),
  )

const statuses = new Set(['pending', 'completed', 'blocked', 'skipped', 'failed'])

/** `in-progress` and `spawned` mean a process that is gone. */
const readStatus = (status: unknown): string =>
  typeof status === 'string' && statuses.has(status) ? status : 'pending'

const listRecords = (value: unknown): FileRecord[] => (Array.isArray(value) ? value.filter(isRecord) : [])

export function countPhases(phases: readonly CompiledPhase[]) {
  const steps = phases.flatMap((phase) => phase.steps ?? [])
  const works = [...phases, ...steps.flatMap((step) => step.phases)]
  return {
    totalPhases: works.length,
    completedPhases: countCompleted(works),
    totalSteps: steps.length,
    completedSteps: countCompleted(steps),
  }
}

const countCompleted = (units: readonly { readonly status: string }[]): number =>
  units.filter(({ status }) => status === 'completed').length
