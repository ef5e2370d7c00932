import type { IterationRecord } from '../../../contract/progress.ts'
import { describeClaim, describeProof } from '../../../words/proof-sentences.ts'
import { Card, CardHead } from '../../ui/card.tsx'
import { textClasses } from '../../words/tone.ts'

type ClaimsCardProps = {
  readonly iterations: readonly IterationRecord[]
  readonly shown: number | undefined
  readonly onChoose: (iteration: number) => void
}

/** Every claim that Ralph did not believe, newest first: lies, cheats, and work without a proof. */
export function ClaimsCard({ iterations, shown, onChoose }: ClaimsCardProps) {
  const refused = iterations.filter((record) => isRefusal(record) && record.number !== shown).toReversed()
  if (refused.length === 0) return null
  return (
    <Card label="Refused claims">
      <CardHead aside={<span className="text-sm text-faint">{refused.length}</span>}>
        {shown === undefined ? 'Refused claims' : 'Other refused claims'}
      </CardHead>
      <ul className="divide-y divide-line">
        {refused.map((record) => (
          <li key={record.number}>
            <button
              type="button"
              onClick={() => onChoose(record.number)}
              className="block w-full px-3.5 py-1.5 text-start -outline-offset-2 hover:bg-sunken"
            >
              <span className="text-dim">Iteration {record.number}</span> <ClaimWords record={record} />
            </button>
          </li>
        ))}
      </ul>
    </Card>
  )
}

const isRefusal = ({ verdict, proof }: IterationRecord): boolean =>
  verdict === 'refused' || (proof !== undefined && proof.verdict !== 'proved' && verdict !== 'accepted')

function ClaimWords({ record }: { record: IterationRecord }) {
  const reasons = record.proof ? describeProof(record.proof) : describeClaim(record)
  if (!reasons) return null
  const names = reasons.groups.filter(({ tone }) => tone === 'bad').flatMap((group) => group.names)
  return (
    <>
      <span className={textClasses[reasons.tone]}>{reasons.sentence}</span>
      {names.length > 0 && (
        <span className="block truncate font-mono text-sm text-dim" title={names.join('\n')}>
          {names.join(', ')}
        </span>
      )}
    </>
  )
}
