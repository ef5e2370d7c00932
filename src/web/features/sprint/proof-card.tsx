import { Download } from 'lucide-react'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../../contract/progress.ts'
import { describeClaim, describeProof, type ProofReasons } from '../../../words/proof-sentences.ts'
import { Card, CardHead } from '../../ui/card.tsx'
import { IconButton } from '../../ui/button.tsx'
import { textClasses } from '../../words/tone.ts'
import { downloadEvidence } from './download.ts'

/** Why Ralph accepted or refused the claim of an iteration, by the names of the tests. */
export function ProofCard({ sprint, record }: { sprint: FleetSprint; record: IterationRecord }) {
  const reasons = record.proof ? describeProof(record.proof) : describeClaim(record)
  if (!reasons) return null
  const tampered = record.proof && record.tampered ? record.tampered : []
  return (
    <Card label="Proof">
      <CardHead
        aside={
          <IconButton label="Download the evidence" onClick={() => void downloadEvidence(sprint, record)}>
            <Download aria-hidden className="size-3.5" />
          </IconButton>
        }
      >
        Proof <span className="font-normal text-faint">iteration {record.number}</span>
      </CardHead>
      <ProofText reasons={reasons} />
      {record.review && (
        <p className="border-t border-line px-3.5 py-2">
          Review {record.review.passed ? 'passed' : 'refused'}:{' '}
          <span className="text-dim">{record.review.summary}</span>
        </p>
      )}
      {tampered.length > 0 && (
        <TestNames group={{ title: 'Changed files that define a check', tone: 'bad', names: tampered }} />
      )}
    </Card>
  )
}

const ProofText = ({ reasons: { tone, sentence, room, labels, groups } }: { reasons: ProofReasons }) => (
  <>
    <div className="space-y-1 px-3.5 py-2">
      <p className={`font-medium ${textClasses[tone]}`}>{sentence}</p>
      {room !== '' && <p className="text-sm text-dim">Ralph ran the checks {room}.</p>}
      {labels.map((label) => (
        <p key={label} className="text-sm text-warn">
          {label}
        </p>
      ))}
    </div>
    {groups.map((group) => (
      <TestNames key={group.title} group={group} />
    ))}
  </>
)

const TestNames = ({ group: { title, tone, names } }: { group: ProofReasons['groups'][number] }) => (
  <details open={names.length <= 6} className="border-t border-line px-3.5 py-1.5">
    <summary className="text-sm">
      <span className={textClasses[tone]}>{title}</span> <span className="text-faint">{names.length}</span>
    </summary>
    <ul className="pt-1">
      {names.map((name) => (
        <li key={name} className="font-mono text-sm break-words">
          {name}
        </li>
      ))}
    </ul>
  </details>
)
