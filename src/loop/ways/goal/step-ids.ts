import type { Step } from '../../../contract/progress.ts'

/** The number of the next `step-<n>`: above all that are in use, since ids are never reused. `total`: steps so far. */
export function nextStepNumber(steps: readonly Step[], total: number): number {
  let next = total
  for (const { id } of steps) {
    const number = readStepNumber(id)
    if (number >= next) next = number + 1
  }
  return next
}

/**
 * Whether a step may keep the id that its author gave it, by which the author will refer to it again. `step-N` is the placeholder
 * of the classic prompt.
 */
export function isFreeStepId(id: string, steps: readonly Step[], next: number): boolean {
  if (!/^[A-Za-z0-9][\w.-]{0,99}$/.test(id) || /^step-[A-Z]$/.test(id)) return false
  const isOld =
    id.startsWith('step-') && /^\d+$/.test(id.slice(5)) && (id.length > maxIdLength || readStepNumber(id) < next)
  return !isOld && !steps.some((step) => step.id === id)
}

const maxIdLength = 'step-'.length + 9

const readStepNumber = (id: string): number => {
  if (!id.startsWith('step-') || id.length > maxIdLength) return -1
  const number = Number(id.slice('step-'.length))
  return Number.isInteger(number) && number >= 0 ? number : -1
}
