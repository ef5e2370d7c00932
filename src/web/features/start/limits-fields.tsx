import { Input } from '../../ui/field.tsx'
import type { Draft, Problems } from './draft.ts'

type Props = { readonly draft: Draft; readonly change: (part: Partial<Draft>) => void; readonly problems: Problems }

const fields = [
  { name: 'iterations', label: 'Iterations', hint: 'at most' },
  { name: 'usd', label: 'US dollars', hint: 'at most' },
  { name: 'hours', label: 'Hours', hint: 'of work' },
  { name: 'noProgress', label: 'Without progress', hint: 'iterations, then it asks' },
] as const

/** Limits that bite before and during each attempt. A usage limit of the provider is waited out and costs nothing. */
export const LimitsFields = ({ draft, change, problems }: Props) => (
  <fieldset>
    <legend className="sr-only">Limits</legend>
    <div className="grid grid-cols-4 gap-3 max-sm:grid-cols-2">
      {fields.map(({ name, label, hint }) => (
        <Input
          key={name}
          label={label}
          inputMode="decimal"
          placeholder="no limit"
          value={draft[name]}
          hint={problems[name] ?? hint}
          aria-invalid={problems[name] !== undefined}
          onChange={(event) => change({ [name]: event.target.value })}
        />
      ))}
    </div>
    <p className="mt-1 text-sm text-faint">
      A usage limit of the provider is waited out: it costs no iteration and no money.
    </p>
  </fieldset>
)
