import type { Progress } from '../../contract/progress.ts'
import { isSameData } from '../../loop/core/same-data.ts'
import { planFields } from '../../loop/core/sprint.ts'

/** The settings that differ, as lines with `-` and `+`, one per value. */
export function diffPlans(before: Progress, after: Progress): string[] {
  return planFields.flatMap((field) => {
    if (isSameData(before[field], after[field])) return []
    const name = toFileName(field)
    const [old, now] = [listLines(name, before[field]), listLines(name, after[field])]
    return [
      ...old.filter((line) => !now.includes(line)).map((line) => `- ${line}`),
      ...now.filter((line) => !old.includes(line)).map((line) => `+ ${line}`),
    ]
  })
}

/** One line per value, and one per line of a long text, each with its place: `done-when[0].run: npm test`. */
function listLines(place: string, value: unknown): string[] {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.flatMap((each, index) => listLines(`${place}[${index}]`, each))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([name, each]) => listLines(`${place}.${toFileName(name)}`, each))
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  return text.split('\n').map((line) => `${place}: ${line}`)
}

const toFileName = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
