import { CompiledPhase } from '../../contract/phases.ts'
import { decodeList, isRecord, readText, type FileRecord } from './file-fields.ts'

/**
 * The compiled phases of m42-sprint. What was in progress is pending again: its process is gone. Fields that Ralph does not
 * have (`elapsed`, `parallel-task-id` …) stay in the copy of the file.
 */
export function importPhases(value: unknown, notes: string[]): CompiledPhase[] {
  const phases = listRecords(value).map((phase, index) => toPhase(phase, `phases[${index}]`, notes))
  return decodeList(CompiledPhase, phases, 'phases', notes)
}

function toPhase(phase: FileRecord, place: string, notes: string[]): FileRecord {
  const steps = listWork(phase['steps'], `${place}.steps`, notes).map((step) => ({
    ...toWork(step, stepFields),
    phases: listWork(step['phases'], `${place}.steps.${String(step['id'])}.phases`, notes).map((part) =>
      toWork(part, phaseFields),
    ),
  }))
  const isForEach = Array.isArray(phase['steps']) && (steps.length > 0 || typeof phase['prompt'] !== 'string')
  return { ...toWork(phase, phaseFields), ...(isForEach && { steps }) }
}

/** The loop of m42 left entries with nothing but a time in phases that have no steps. */
function listWork(value: unknown, place: string, notes: string[]): FileRecord[] {
  return listRecords(value).filter((unit, index) => {
    const isWork = readText(unit['id']) !== undefined && readText(unit['prompt']) !== undefined
    if (!isWork) notes.push(`${place}[${index}] has no id or no prompt and was left behind`)
    return isWork
  })
}

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
