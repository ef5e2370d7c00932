import type { CompiledPhase, CompiledStep } from '../../contract/phases.ts'
import type { Progress } from '../../contract/progress.ts'
import { clip, oneLine, type Paint } from '../io/paint.ts'

/** Maximum number of listed items per phase. */
const shownItems = 20

/** One line per phase; the items of open phases follow. */
export function phaseLines(
  { phases = [] }: Progress,
  look: { readonly paint: Paint; readonly width: number },
): string[] {
  return phases.flatMap((phase) => {
    const { steps = [] } = phase
    const done = steps.filter(({ status }) => status === 'completed').length
    const items = steps.length > 0 ? `  ${done} of ${steps.length} items` : ''
    const open = phase.status === 'completed' ? [] : steps.filter(({ status }) => status !== 'completed')
    const more = open.length > shownItems ? [`      (and ${open.length - shownItems} more)`] : []
    return [
      `  ${line(phase, look, items)}`,
      ...open.slice(0, shownItems).map((step) => `    ${line(step, look, '')}`),
      ...more,
    ]
  })
}

function line(
  unit: CompiledPhase | CompiledStep,
  { paint, width }: { readonly paint: Paint; readonly width: number },
  items: string,
): string {
  const { id, status, error, summary, prompt = '' } = unit
  const marks: Readonly<Record<typeof status, string>> = {
    pending: '○',
    'in-progress': paint.cyan('●'),
    completed: paint.green('✓'),
    failed: paint.red('✗'),
    blocked: paint.red('✗'),
    skipped: '–',
  }
  const text = oneLine(error ?? summary ?? prompt)
  const head = `${marks[status]} ${id}${items}`
  return text === '' ? head : `${head}  ${paint.dim(clip(text, Math.max(20, width - id.length - items.length - 10)))}`
}
