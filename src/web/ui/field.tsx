import { type ComponentProps, type ReactNode, useId } from 'react'
import { ChevronDown } from 'lucide-react'
import { classes } from './classes.ts'

const box =
  'w-full rounded-md border border-line-strong aria-invalid:border-bad bg-bg px-2.5 py-1 leading-5 focus-visible:border-accent focus-visible:outline-1 focus-visible:-outline-offset-1 disabled:opacity-60 max-sm:text-[16px]'

type LabelProps = {
  readonly label: string
  readonly hint?: ReactNode
  /** Why the value is not valid; announced to screen readers as soon as it appears. */
  readonly problem?: ReactNode
  readonly hideLabel?: boolean
}

export const TextInput = ({
  label,
  hint,
  problem,
  hideLabel,
  className,
  ...rest
}: ComponentProps<'input'> & LabelProps) => (
  <LabelledField label={label} hint={hint} problem={problem} hideLabel={hideLabel ?? false} className={className}>
    {(ids) => <input className={classes(box, 'h-7.5 max-sm:h-9')} {...ids} {...rest} />}
  </LabelledField>
)

export const Textarea = ({
  label,
  hint,
  problem,
  hideLabel,
  className,
  ...rest
}: ComponentProps<'textarea'> & LabelProps) => (
  <LabelledField label={label} hint={hint} problem={problem} hideLabel={hideLabel ?? false} className={className}>
    {(ids) => <textarea className={classes(box, 'resize-y py-1.5')} {...ids} {...rest} />}
  </LabelledField>
)

type SelectProps = Omit<ComponentProps<'select'>, 'onChange'> &
  LabelProps & {
    readonly options: readonly { readonly value: string; readonly label: string; readonly disabled?: boolean }[]
    readonly onChoose: (value: string) => void
  }

/** The native select: works with every keyboard and phone. */
export const Select = ({ label, hint, problem, hideLabel, className, options, onChoose, ...rest }: SelectProps) => (
  <LabelledField label={label} hint={hint} problem={problem} hideLabel={hideLabel ?? false} className={className}>
    {(ids) => (
      <span className="relative block">
        <select
          className={classes(box, 'h-7.5 appearance-none truncate pe-7 max-sm:h-9')}
          onChange={(event) => onChoose(event.target.value)}
          {...ids}
          {...rest}
        >
          {options.map((option) => (
            <option key={option.value} value={option.value} disabled={option.disabled}>
              {option.label}
            </option>
          ))}
        </select>
        <ChevronDown aria-hidden className="pointer-events-none absolute inset-y-0 end-2 my-auto size-3.5 text-faint" />
      </span>
    )}
  </LabelledField>
)

type LabelledFieldProps = LabelProps & {
  readonly className?: string | undefined
  readonly children: (ids: { id: string; 'aria-describedby'?: string; 'aria-invalid'?: boolean }) => ReactNode
}

function LabelledField({ label, hint, problem, hideLabel, className, children }: LabelledFieldProps) {
  const id = useId()
  const hintId = `${id}-hint`
  const description = problem ?? hint
  return (
    <div className={className}>
      <label htmlFor={id} className={hideLabel === true ? 'sr-only' : 'mb-1 block text-sm font-medium text-dim'}>
        {label}
      </label>
      {children({
        id,
        ...(description !== undefined && { 'aria-describedby': hintId }),
        ...(problem !== undefined && { 'aria-invalid': true }),
      })}
      {description !== undefined && (
        <p
          id={hintId}
          {...(problem !== undefined && { role: 'alert' })}
          className={problem === undefined ? 'mt-1 text-sm text-faint' : 'mt-1 text-sm text-bad'}
        >
          {description}
        </p>
      )}
    </div>
  )
}
