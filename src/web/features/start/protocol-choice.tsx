import { Radio } from '@base-ui/react/radio'
import { RadioGroup } from '@base-ui/react/radio-group'
import type { Draft } from './draft.ts'

const choices = [
  {
    value: 'notes',
    name: 'Ralph Mode',
    about: 'The same prompt each time. The agent keeps notes in a folder and deletes a lock when it is done or stuck.',
  },
  {
    value: 'report',
    name: 'Planned sprint',
    about:
      'The agent plans steps, does one per iteration, and reports its progress. Gives you more to see and to steer.',
  },
] as const

/** How the loop works: one choice, a sentence each. */
export const ProtocolChoice = ({
  value,
  onChange,
}: {
  value: Draft['protocol']
  onChange: (value: Draft['protocol']) => void
}) => (
  <RadioGroup
    aria-label="How it works"
    value={value}
    onValueChange={(next: Draft['protocol']) => onChange(next)}
    className="grid grid-cols-2 gap-2 max-sm:grid-cols-1"
  >
    {choices.map((choice) => (
      <Radio.Root
        key={choice.value}
        value={choice.value}
        nativeButton
        render={<button type="button" />}
        className="rounded-lg border border-line-strong px-3 py-2 text-left hover:bg-sunken data-checked:border-accent data-checked:bg-accent-bg"
      >
        <span className="block font-medium">{choice.name}</span>
        <span className="block text-sm text-dim">{choice.about}</span>
      </Radio.Root>
    ))}
  </RadioGroup>
)
