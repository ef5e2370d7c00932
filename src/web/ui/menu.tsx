import { Menu as Base } from '@base-ui/react/menu'
import { ChevronDown } from 'lucide-react'
import type { ReactNode } from 'react'
import { buttonLook } from './button.tsx'
import { classes } from './classes.ts'

type MenuKind = Parameters<typeof buttonLook>[0]

export type MenuEntry = {
  readonly label: string
  /** What happens on click, in a sentence. */
  readonly hint?: string
  readonly icon?: ReactNode
  readonly danger?: boolean
  readonly disabled?: boolean
  readonly onChoose: () => void
}

type MenuProps = {
  readonly children: ReactNode
  readonly entries: readonly MenuEntry[]
  readonly label?: string
  readonly kind?: NonNullable<MenuKind>
  readonly size?: 'small' | 'medium' | 'icon'
  readonly align?: 'start' | 'end'
  readonly disabled?: boolean
}

export const Menu = ({
  children,
  entries,
  label,
  kind = 'plain',
  size = 'medium',
  align = 'end',
  disabled,
}: MenuProps) => (
  <Base.Root modal={false}>
    <Base.Trigger className={buttonLook(kind, size)} aria-label={label} title={label} disabled={disabled}>
      {children}
      {size !== 'icon' && <ChevronDown aria-hidden className="-mr-0.5 size-3.5 text-faint" />}
    </Base.Trigger>
    <Base.Portal>
      <Base.Positioner sideOffset={5} align={align} className="z-50 outline-none">
        <Base.Popup className="max-w-80 min-w-44 rounded-lg border border-line bg-panel p-1 shadow-pop outline-none transition-opacity duration-100 data-ending-style:opacity-0 data-starting-style:opacity-0">
          {entries.map((entry) => (
            <MenuItem key={entry.label} entry={entry} />
          ))}
        </Base.Popup>
      </Base.Positioner>
    </Base.Portal>
  </Base.Root>
)

const MenuItem = ({ entry }: { entry: MenuEntry }) => (
  <Base.Item
    onClick={entry.onChoose}
    disabled={entry.disabled}
    className={classes(
      'flex gap-2 rounded-md px-2.5 py-1.5 outline-none select-none data-disabled:opacity-50 data-highlighted:bg-sunken',
      entry.danger === true && 'text-bad',
    )}
  >
    {entry.icon !== undefined && <span className="mt-0.5 shrink-0 text-faint">{entry.icon}</span>}
    <span>
      <span className="block">{entry.label}</span>
      {entry.hint !== undefined && <span className="block text-sm text-faint">{entry.hint}</span>}
    </span>
  </Base.Item>
)
