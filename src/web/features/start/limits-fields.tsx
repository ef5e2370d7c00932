import { TextInput } from '../../ui/field.tsx'
import type { Draft, DraftProblems } from './draft.ts'

type LimitsFieldsProps = {
  readonly draft: Draft
  readonly change: (part: Partial<Draft>) => void
  readonly problems: DraftProblems
}

const fields = [
  { name: 'iterations', label: 'Iterations', hint: 'at most' },
  { name: 'usd', label: 'US dollars', hint: 'at most' },
  { name: 'hours', label: 'Hours', hint: 'of working time' },
  { name: 'noProgress', label: 'Ask me after', hint: 'iterations without progress' },
] as const

/** Limits, enforced before and during each attempt. Waiting for a provider's usage limit costs nothing. */
export const LimitsFields = ({ draft, change, problems }: LimitsFieldsProps) => (
  <fieldset>
    <legend className="sr-only">Limits</legend>
    <div className="grid grid-cols-4 gap-3 max-sm:grid-cols-2">
      {fields.map(({ name, label, hint }) => (
        <TextInput
          key={name}
          label={label}
          inputMode="decimal"
          placeholder="no limit"
          value={draft[name]}
          hint={hint}
          problem={problems[name]}
          onChange={(event) => change({ [name]: event.target.value })}
        />
      ))}
    </div>
    <p className="mt-1 text-sm text-faint">
      Ralph waits out the provider's usage limits: they cost no iteration and no money.
    </p>
  </fieldset>
)
