import type { Progress } from '../contract/progress.ts'
import { isSameData } from './core/same-data.ts'
import { planFields, type Plan, type Sprint } from './core/sprint.ts'
import type { RecompileResult } from './core/way.ts'
import { fromProgress, toProgress } from './progress-codec.ts'
import { getWay } from './ways/registry.ts'

/** Applies a changed SPRINT.yaml to a sprint that has run: the configuration is replaced, the history stays. */
export function recompile(
  progress: Progress,
  compiled: Progress,
  at: number,
): { readonly progress: Progress; readonly changes: RecompileResult['changes'] } {
  const { sprint, changes } = recompileSprint(fromProgress(progress), fromProgress(compiled), at)
  return { progress: toProgress(sprint), changes }
}

export function recompileSprint(sprint: Sprint, compiled: Sprint, at: number): RecompileResult {
  // Detected checks stay as long as none are configured.
  const { doneWhen = sprint.plan.doneWhen } = compiled.plan
  const plan: Plan = { ...compiled.plan, doneWhen }
  const changes = planFields
    .filter((field) => !isSameData(sprint.plan[field], plan[field]))
    .map((field) => describeFieldChange(field, sprint.plan, plan))
  const merged = getWay(sprint).recompile({ ...sprint, plan }, compiled, at)
  return { sprint: merged.sprint, changes: [...changes, ...merged.changes] }
}

function describeFieldChange(field: keyof Plan, before: Plan, after: Plan): string {
  const [old, now] = [before[field], after[field]]
  if (isShortValue(old) && isShortValue(now)) return `${field}: ${formatSetting(old)} -> ${formatSetting(now)}`
  return `${field} ${old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'}`
}

const isShortValue = (value: unknown): boolean =>
  value === undefined || (typeof value !== 'object' && formatSetting(value).length < 40)
const formatSetting = (value: unknown): string => (value === undefined ? 'none' : (JSON.stringify(value) ?? ''))
