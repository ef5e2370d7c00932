import { Combobox } from '@base-ui/react/combobox'
import { ChevronDown } from 'lucide-react'
import { type ReactNode, useId } from 'react'

export type PickerOption = { readonly value: string; readonly label: string; readonly detail?: string | undefined }

type PickerProps = {
  readonly label: string
  readonly value: string
  readonly options: readonly PickerOption[]
  readonly onChoose: (value: string) => void
  readonly placeholder: string
  /** Why the choice is not valid; announced to screen readers. */
  readonly problem?: ReactNode
}

/** More options than a person can read are found by typing. */
const maxShown = 100

/** A select with a search field, for lists that may be long. */
export function Picker({ label, value, options, onChoose, placeholder, problem }: PickerProps) {
  const id = useId()
  const chosen = options.find((option) => option.value === value) ?? null
  return (
    <Combobox.Root
      items={options}
      value={chosen}
      onValueChange={(option: PickerOption | null) => option && onChoose(option.value)}
      isItemEqualToValue={(a: PickerOption, b: PickerOption) => a.value === b.value}
      itemToStringLabel={({ label: text }: PickerOption) => text}
      limit={maxShown}
      autoHighlight
    >
      <div>
        <label htmlFor={id} className="mb-1 block text-sm font-medium text-dim">
          {label}
        </label>
        <div className="relative">
          <Combobox.Input
            id={id}
            placeholder={placeholder}
            aria-invalid={problem !== undefined}
            aria-describedby={`${id}-problem`}
            className="h-7.5 w-full rounded-md border border-line-strong bg-bg px-2.5 py-1 pr-8 leading-5 focus-visible:border-accent focus-visible:outline-1 focus-visible:-outline-offset-1 aria-invalid:border-bad max-sm:h-9 max-sm:text-[16px]"
          />
          <Combobox.Trigger aria-label={`Show all: ${label}`} className="absolute inset-y-0 right-0 px-2 text-faint">
            <ChevronDown aria-hidden className="size-4" />
          </Combobox.Trigger>
        </div>
        <p id={`${id}-problem`} role="alert" className="text-sm text-bad [&:not(:empty)]:mt-1">
          {problem}
        </p>
      </div>
      <Combobox.Portal>
        <Combobox.Positioner className="z-50 outline-none" sideOffset={4}>
          <Combobox.Popup className="w-(--anchor-width) overflow-hidden rounded-lg border border-line bg-panel shadow-pop">
            <Combobox.Empty>
              <p className="px-3 py-2 text-dim">Nothing matches</p>
            </Combobox.Empty>
            <Combobox.List className="max-h-[min(20rem,var(--available-height))] overflow-y-auto p-1 empty:p-0">
              {(option: PickerOption) => (
                <Combobox.Item
                  key={option.value}
                  value={option}
                  className="flex cursor-default items-baseline gap-2 rounded-md px-2 py-1.5 data-highlighted:bg-sunken data-selected:font-medium"
                >
                  <span className="truncate">{option.label}</span>
                  <span className="min-w-0 flex-1 truncate text-right text-sm text-faint">{option.detail}</span>
                </Combobox.Item>
              )}
            </Combobox.List>
          </Combobox.Popup>
        </Combobox.Positioner>
      </Combobox.Portal>
    </Combobox.Root>
  )
}
