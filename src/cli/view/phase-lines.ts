import type { CompiledPhase, CompiledStep } from '../../contract/phases.ts'
import type { Progress } from '../../contract/progress.ts'
import { clipLine, toOneLine } from '../../words/text.ts'
import type { TerminalPaint } from '../io/paint.ts'

/** Maximum number of listed items per phase. */
const maxShownItems = 20

/** One line per phase, followed by its unfinished items. */
export function phaseLines(
  { phases = [] }: Progress,
  look: { readonly paint: TerminalPaint; readonly width: number },
): string[] {
  return phases.flatMap((phase) => {
    const { steps = [] } = phase
    const done = steps.filter(({ status }) => status === 'completed').length
    const items = steps.length > 0 ? `  ${done} of ${steps.length} items` : ''
    const open = phase.status === 'completed' ? [] : steps.filter(({ status }) => status !== 'completed')
    const more = open.length > maxShownItems ? [`      (and ${open.length - maxShownItems} more)`] : []
    return [
      `  ${phaseLine(phase, look, items)}`,
      ...open.slice(0, maxShownItems).map((step) => `    ${phaseLine(step, look, '')}`),
      ...more,
    ]
  })
}

function phaseLine(
  unit: CompiledPhase | CompiledStep,
  { paint, width }: { readonly paint: TerminalPaint; readonly width: number },
  items: string,
): string {
  const { id, status } = unit
  const text = describeWork(unit)
  const head = `${markWork(status, paint)} ${id}${items}`
  return text === ''
    ? head
    : `${head}  ${paint.dim(clipLine(text, Math.max(20, width - id.length - items.length - 10)))}`
}

type WorkUnit = CompiledPhase | CompiledStep

/** What became of a phase or of one of its items, else what it asks for. */
export const describeWork = ({ error, summary, prompt = '' }: WorkUnit): string => toOneLine(error ?? summary ?? prompt)

export function markWork(status: WorkUnit['status'], paint: TerminalPaint): string {
  const marks: Readonly<Record<typeof status, string>> = {
    pending: '○',
    'in-progress': paint.cyan('●'),
    completed: paint.green('✓'),
    failed: paint.red('✗'),
    blocked: paint.red('✗'),
    skipped: '–',
  }
  return marks[status]
}
