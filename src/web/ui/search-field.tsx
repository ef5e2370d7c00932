import { Search } from 'lucide-react'
import { classes } from './classes.ts'

type SearchFieldProps = {
  readonly label: string
  readonly value: string
  readonly onChange: (text: string) => void
  readonly className?: string
}

/** The key `/` focuses this field. */
export const SearchField = ({ label, value, onChange, className }: SearchFieldProps) => (
  <div className={classes('relative', className)}>
    <Search
      aria-hidden
      className="pointer-events-none absolute top-1/2 left-2.5 size-3.5 -translate-y-1/2 text-faint"
    />
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      className="h-7.5 w-full rounded-md border border-line bg-panel pr-2 pl-8 focus-visible:outline-1 max-sm:h-9 max-sm:text-[16px]"
    />
  </div>
)
