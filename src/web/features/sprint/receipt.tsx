import type { ReactNode } from 'react'
import type { HookTask, IterationRecord } from '../../../contract/progress.ts'
import { formatCount } from '../../../words/counts.ts'
import { formatDurationShort } from '../../../words/durations.ts'
import { formatUsd } from '../../../words/money.ts'
import { describeProgram } from '../../../words/status.ts'
import { listHostLines } from './receipt-hosts.ts'

type ReceiptProps = { readonly record: IterationRecord; readonly hooks: readonly HookTask[] }

/** The result of one iteration. */
export function Receipt({ record, hooks }: ReceiptProps) {
  const { usage } = record
  return (
    <dl className="py-1.5">
      <ReceiptLine name="tokens in / out / cached">
        {formatCount(usage.inputTokens)} / {formatCount(usage.outputTokens)} / {formatCount(usage.cacheReadTokens)}
      </ReceiptLine>
      <ReceiptLine
        name={record.costEstimated === true ? "cost (Ralph's price list)" : 'cost (reported by the provider)'}
      >
        {record.costEstimated === true && '≈ '}
        {formatUsd(record.costUsd)}
      </ReceiptLine>
      <ReceiptLine name="time">{formatDurationShort(record.endedAt - record.startedAt)}</ReceiptLine>
      {record.attempts > 1 && <ReceiptLine name="attempts">{record.attempts}</ReceiptLine>}
      {record.agent !== undefined && <ReceiptLine name="by">{describeProgram(record.agent, record.model)}</ReceiptLine>}
      {record.review && <ReceiptLine name="review">{record.review.passed ? 'passed' : 'refused'}</ReceiptLine>}
      {hooks.length > 0 && (
        <ReceiptLine name="hooks">
          {hooks.map(({ hookId, status }) => `${hookId} ${marks[status]}`).join(' · ')}
        </ReceiptLine>
      )}
      {listHostLines(record).map(({ name, text, setting }) => (
        <ReceiptLine key={`${name} ${text}`} name={name}>
          <span className={setting === undefined ? undefined : 'text-warn'}>{text}</span>
          {setting !== undefined && (
            <span className="block text-dim">
              to allow it: <code className="font-mono text-sm">{setting}</code>
            </span>
          )}
        </ReceiptLine>
      ))}
      {record.checkpoint !== undefined && (
        <ReceiptLine name="checkpoint">
          <code className="font-mono text-sm">{record.checkpoint.slice(0, 10)}</code>
        </ReceiptLine>
      )}
      {record.tampered && record.tampered.length > 0 && (
        <ReceiptLine name="changed files that define a check">
          <span className="text-bad">{record.tampered.join(', ')}</span>
        </ReceiptLine>
      )}
      {record.rejected && <ReceiptLine name="ignored parts of its report">{record.rejected.length}</ReceiptLine>}
    </dl>
  )
}

const marks = { running: '…', completed: '✓', failed: '✗' } as const

const ReceiptLine = ({ name, children }: { name: string; children: ReactNode }) => (
  <div className="flex justify-between gap-4 px-3.5 py-[3px]">
    <dt className="text-dim">{name}</dt>
    <dd className="min-w-0 text-right break-words">{children}</dd>
  </div>
)
