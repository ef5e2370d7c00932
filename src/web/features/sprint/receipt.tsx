import type { ReactNode } from 'react'
import type { HookTask, IterationRecord } from '../../../contract/progress.ts'
import { count, duration, money } from '../../words/numbers.ts'
import { programName } from '../../words/situation.ts'

type Props = { readonly record: IterationRecord; readonly hooks: readonly HookTask[] }

/** The result of one iteration. */
export function Receipt({ record, hooks }: Props) {
  const { usage } = record
  return (
    <dl className="py-1.5">
      <Line name="tokens in / out / cached">
        {count(usage.inputTokens)} / {count(usage.outputTokens)} / {count(usage.cacheReadTokens)}
      </Line>
      <Line name={record.costEstimated === true ? "cost (Ralph's price list)" : 'cost (reported by the provider)'}>
        {record.costEstimated === true && '≈ '}
        {money(record.costUsd)}
      </Line>
      <Line name="time">{duration(record.endedAt - record.startedAt)}</Line>
      {record.attempts > 1 && <Line name="attempts">{record.attempts}</Line>}
      {record.agent !== undefined && (
        <Line name="by">{[programName(record.agent), record.model].filter(Boolean).join(' · ')}</Line>
      )}
      {record.review && <Line name="review">{record.review.passed ? 'passed' : 'refused'}</Line>}
      {hooks.length > 0 && (
        <Line name="hooks">{hooks.map(({ hookId, status }) => `${hookId} ${marks[status]}`).join(' · ')}</Line>
      )}
      {record.checkpoint !== undefined && (
        <Line name="checkpoint">
          <code className="font-mono text-sm">{record.checkpoint.slice(0, 10)}</code>
        </Line>
      )}
      {record.tampered && record.tampered.length > 0 && (
        <Line name="changed files that define a check">
          <span className="text-bad">{record.tampered.join(', ')}</span>
        </Line>
      )}
      {record.rejected && <Line name="ignored parts of its report">{record.rejected.length}</Line>}
    </dl>
  )
}

const marks = { running: '…', completed: '✓', failed: '✗' } as const

const Line = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="flex justify-between gap-4 px-3.5 py-[3px]">
    <dt className="text-dim">{name}</dt>
    <dd className="min-w-0 text-right break-words">{children}</dd>
  </div>
)
