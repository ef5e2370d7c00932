import { useEffect, useRef } from 'react'
import type { IterationRecord, Progress } from '../../../contract/progress.ts'
import { Card, CardHead } from '../../ui/card.tsx'
import { classes } from '../../ui/classes.ts'
import { createCheckGrid } from './checks-grid.ts'

type ChecksCardProps = {
  readonly iterations: readonly IterationRecord[]
  readonly progress: Progress
  readonly chosen: number | undefined
  readonly onChoose: (iteration: number) => void
}

export function ChecksCard({ iterations, progress, chosen, onChoose }: ChecksCardProps) {
  const { columns, rows } = createCheckGrid(iterations, progress)
  const scroller = useRef<HTMLDivElement>(null)
  // The newest run is what a user looks for; older ones are to the left of it.
  const newest = columns.at(-1)
  useEffect(() => scroller.current?.scrollTo({ left: scroller.current.scrollWidth }), [newest])
  return (
    <Card label="Done when">
      <CardHead>Done when</CardHead>
      {rows.length === 0 ? (
        <p className="px-3.5 py-3 text-dim">No checks: Ralph accepts the agent's claim unchecked.</p>
      ) : (
        <div ref={scroller} className="overflow-x-auto pb-2">
          <table className="w-full text-sm">
            <thead>
              <tr>
                <th scope="col">
                  <span className="sr-only">Check</span>
                </th>
                {columns.map((number) => (
                  <th key={number} scope="col" className="px-0.5 pt-1.5 text-center font-medium last:pr-2.5">
                    <ColumnHead number={number} chosen={chosen === number} onChoose={onChoose} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {rows.map(({ name, marks, regressed }) => (
                <tr key={name}>
                  <th
                    scope="row"
                    className="sticky left-0 max-w-32 truncate bg-panel py-1 pr-2 pl-3.5 text-left font-normal"
                    title={regressed ? `${name}: was green before` : name}
                  >
                    {name}
                    {regressed && <span className="text-bad"> ↓</span>}
                  </th>
                  {marks.map((passed, index) => (
                    <td key={columns[index]} className="px-0.5 text-center last:pr-2.5">
                      <CheckSquare passed={passed} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
          {columns.length === 0 && (
            <p className="px-3.5 pt-1 text-faint">Not run yet: they run when the agent claims to be done.</p>
          )}
        </div>
      )}
    </Card>
  )
}

type ColumnHeadProps = {
  readonly number: number
  readonly chosen: boolean
  readonly onChoose: (iteration: number) => void
}

const ColumnHead = ({ number, chosen, onChoose }: ColumnHeadProps) =>
  number === 0 ? (
    <span title="Before the first iteration" className="px-1 font-normal text-dim">
      start
    </span>
  ) : (
    <button
      type="button"
      className={classes('min-w-4 rounded px-0.5 hover:bg-sunken', chosen && 'bg-accent-bg')}
      onClick={() => onChoose(number)}
    >
      {number}
    </button>
  )

const CheckSquare = ({ passed }: { passed: boolean | undefined }) => (
  <span
    role="img"
    aria-label={passed === undefined ? 'not run' : passed ? 'green' : 'red'}
    className={classes(
      'inline-block size-3.5 rounded-[3px] align-middle',
      passed === undefined ? 'bg-line' : passed ? 'bg-ok-fill' : 'bg-bad-fill',
    )}
  />
)
