import { useQuery } from '@tanstack/react-query'
import { Check, Download, Minus, X } from 'lucide-react'
import type { SprintQuestion } from '../../../contract/fleet/question.ts'
import type { FleetSprint } from '../../../contract/fleet/sprint.ts'
import type { IterationRecord } from '../../../contract/progress.ts'
import { describeClaim, describeProof, type ProofReasons } from '../../../words/proof-sentences.ts'
import { describeProofSteps, type ProofStep } from '../../../words/proof-steps.ts'
import { api } from '../../data/api.ts'
import { claimReasonQuery, diffQuery, questionsQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Button, IconButton } from '../../ui/button.tsx'
import { Card, CardHead } from '../../ui/card.tsx'
import { DiffLines } from '../../ui/diff-lines.tsx'
import { parsePatchLines } from '../../words/line-diff.ts'
import { textClasses } from '../../words/tone.ts'
import { downloadEvidence } from './download.ts'

type ProofCardProps = { readonly sprint: FleetSprint; readonly record: IterationRecord; readonly mayWrite: boolean }

/** Why Ralph accepted or refused the claim of an iteration: each measure, by the names of the tests. */
export function ProofCard({ sprint, record: receipt, mayWrite }: ProofCardProps) {
  const { ralphExit } = sprint.progress
  // A person may have accepted the claim after its receipt was written.
  const accepted = ralphExit.iteration === receipt.number ? ralphExit.proof : undefined
  const record = accepted ? { ...receipt, proof: accepted } : receipt
  const reasons = record.proof ? describeProof(record.proof) : describeClaim(record)
  if (!reasons) return null
  const steps = describeProofSteps(record, sprint.progress)
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
      <ProofHead reasons={reasons} sprint={sprint} record={record} />
      {mayWrite && <ClaimButtons sprint={sprint} record={record} />}
      {steps.length > 0 ? (
        <ul className="border-t border-line py-1" aria-label="How the claim was measured">
          {steps.map((step) => (
            <StepRow key={step.title} step={step} />
          ))}
        </ul>
      ) : (
        reasons.groups.map(({ title, tone, names }) => (
          <NameList key={title} title={title} className={textClasses[tone]} names={names} />
        ))
      )}
      {record.review && (
        <p className="border-t border-line px-3.5 py-2">
          Review {record.review.passed ? 'passed' : 'refused'}:{' '}
          <span className="text-dim">{record.review.summary}</span>
        </p>
      )}
      <FrozenDiff sprint={sprint} record={record} />
    </Card>
  )
}

function ProofHead({ reasons, sprint, record }: { reasons: ProofReasons } & Omit<ProofCardProps, 'mayWrite'>) {
  const { tone, sentence, room, labels } = reasons
  const { data: why } = useQuery({
    ...claimReasonQuery(sprint.id, record.number),
    enabled: record.verdict !== 'accepted',
  })
  return (
    <div className="space-y-1 px-3.5 py-2">
      <p className={`font-medium ${textClasses[tone]}`}>{sentence}</p>
      {why !== undefined && why !== '' && <p className="break-words">{why}</p>}
      {room !== '' && <p className="text-sm text-dim">Ralph ran the checks {room}.</p>}
      {labels.map((label) => (
        <p key={label} className="text-sm text-warn">
          {label}
        </p>
      ))}
    </div>
  )
}

const stepSigns = {
  passed: { Icon: Check, className: 'text-ok', word: 'passed' },
  failed: { Icon: X, className: 'text-bad', word: 'failed' },
  absent: { Icon: Minus, className: 'text-faint', word: 'does not apply' },
} as const

function StepRow({ step: { title, state, words, names } }: { step: ProofStep }) {
  const { Icon, className, word } = stepSigns[state]
  return (
    <li className="px-3.5 py-1">
      <p className="flex items-start gap-2">
        <Icon aria-label={word} className={`mt-0.5 size-3.5 shrink-0 ${className}`} />
        <span className="min-w-0 flex-1">
          {title}
          <span className={`block text-sm ${state === 'failed' ? 'text-bad' : 'text-dim'}`}>{words}</span>
        </span>
      </p>
      {names.length > 0 && (
        <details open={names.length <= 3} className="ps-5.5">
          <summary className="text-sm text-dim">by name</summary>
          <ul>
            {names.map((name) => (
              <li key={name} className="font-mono text-sm break-words">
                {name}
              </li>
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

const NameList = ({ title, className, names }: { title: string; className: string; names: readonly string[] }) => (
  <details open={names.length <= 6} className="border-t border-line px-3.5 py-1.5">
    <summary className="text-sm">
      <span className={className}>{title}</span> <span className="text-faint">{names.length}</span>
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

/** The decision about a claim that only a person can make, beside its evidence. */
function ClaimButtons({ sprint, record }: Omit<ProofCardProps, 'mayWrite'>) {
  const { data: questions = [] } = useQuery(questionsQuery)
  const answer = useAction(api.answerSprint, { successToast: 'Answered; the sprint resumes' })
  const isAsked = sprint.progress.claimQuestion?.iteration === record.number
  const question = questions.find(({ sprintId, status }) => sprintId === sprint.id && status === 'open')
  if (!isAsked || !question) return null
  return (
    <div className="flex flex-wrap gap-2 px-3.5 pb-3">
      {listOptions(question).map((option) => (
        <Button
          key={option}
          kind={option === question.default ? 'primary' : 'plain'}
          disabled={answer.busy}
          onClick={() => answer.run({ sprintId: sprint.id, questionId: question.id, answer: option })}
        >
          {option}
        </Button>
      ))}
    </div>
  )
}

const listOptions = ({ options }: SprintQuestion): readonly string[] => options ?? []

/** What the agent did to the files that define a check, from the start of the sprint to its claim. */
function FrozenDiff({ sprint, record }: Omit<ProofCardProps, 'mayWrite'>) {
  const { tampered = [], checkpoint, number } = record
  const enabled = tampered.length > 0 && checkpoint !== undefined
  const { data } = useQuery({ ...diffQuery(sprint.id, { from: 0, to: number }), enabled })
  const changed = data?.files.filter(({ path, patch }) => tampered.includes(path) && patch !== undefined) ?? []
  if (changed.length === 0) return null
  return (
    <details className="border-t border-line">
      <summary className="px-3.5 py-1.5 text-sm">What the agent changed in them</summary>
      {changed.map(({ path, patch = '' }) => (
        <div key={path} className="border-t border-line">
          <p className="px-3.5 pt-1.5 font-mono text-sm break-words">{path}</p>
          <DiffLines lines={parsePatchLines(patch)} />
        </div>
      ))}
    </details>
  )
}
