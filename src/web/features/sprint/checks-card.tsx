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
  return (
    <Card label="Done when">
      <CardHead>Done when</CardHead>
      {rows.length === 0 ? (
        <p className="px-3.5 py-3 text-dim">No checks: Ralph accepts the agent's claim unchecked.</p>
      ) : (
        <div className="overflow-x-auto pb-2">
          <table className="w-full text-sm">
            <thead>
              <tr>
                <th scope="col">
                  <span className="sr-only">Check</span>
                </th>
                {columns.map((number) => (
                  <th key={number} scope="col" className="p-0 pt-1.5 font-medium">
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
                    className="max-w-32 truncate py-1 pr-2 pl-3.5 text-left font-normal"
                    title={regressed ? `${name}: was green before` : name}
                  >
                    {name}
                    {regressed && <span className="text-bad"> ↓</span>}
                  </th>
                  {marks.map((passed, index) => (
                    <td key={columns[index]} className="px-1 text-center last:pr-3.5">
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
      className={classes('w-full rounded px-1 hover:bg-sunken', chosen && 'bg-accent-bg')}
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
