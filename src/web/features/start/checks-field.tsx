import { Plus, X } from 'lucide-react'
import { Button, IconButton } from '../../ui/button.tsx'
import { TextInput } from '../../ui/field.tsx'
import type { Draft } from './draft.ts'

type ChecksFieldProps = {
  readonly draft: Draft
  readonly detected: readonly { readonly name: string; readonly run: string }[] | undefined
  readonly change: (part: Partial<Draft>) => void
}

/** Commands that Ralph runs itself. Without one, it accepts the agent's claim unchecked. */
export function ChecksField({ draft, detected = [], change }: ChecksFieldProps) {
  const toggle = (run: string): void =>
    change({
      skipped: draft.skipped.includes(run) ? draft.skipped.filter((other) => other !== run) : [...draft.skipped, run],
    })
  const none =
    detected.every(({ run }) => draft.skipped.includes(run)) && draft.checks.every((run) => run.trim() === '')
  return (
    <fieldset>
      <legend className="mb-1 text-sm font-medium text-dim">Done when these commands exit with 0</legend>
      <div className="space-y-1.5">
        {detected.map(({ run }) => (
          <label key={run} className="flex items-center gap-2">
            <input
              type="checkbox"
              className="size-3.5 accent-accent"
              checked={!draft.skipped.includes(run)}
              onChange={() => toggle(run)}
            />
            <code className="font-mono text-sm">{run}</code>
            <span className="text-sm text-faint">detected in the project</span>
          </label>
        ))}
        {draft.checks.map((run, index) => (
          // oxlint-disable-next-line react/no-array-index-key -- lines that are being typed have no other name
          <div key={index} className="flex items-center gap-1">
            <TextInput
              label={`Check ${index + 1}`}
              hideLabel
              value={run}
              placeholder="npm test"
              className="flex-1 font-mono"
              onChange={(event) => change({ checks: draft.checks.with(index, event.target.value) })}
            />
            <IconButton label="Remove" onClick={() => change({ checks: draft.checks.toSpliced(index, 1) })}>
              <X aria-hidden className="size-3.5" />
            </IconButton>
          </div>
        ))}
        <div className="flex items-center gap-3">
          <Button size="small" onClick={() => change({ checks: [...draft.checks, ''] })}>
            <Plus aria-hidden className="size-3" /> Add a check
          </Button>
          {none && <span className="text-sm text-warn">No checks: the agent decides when it is done.</span>}
        </div>
      </div>
    </fieldset>
  )
}
