import type { ComponentProps, ReactNode } from 'react'
import { classes } from './classes.ts'

type ButtonKind = 'plain' | 'primary' | 'danger' | 'ghost'

const looks: Readonly<Record<ButtonKind, string>> = {
  plain: 'border-line-strong bg-panel hover:bg-sunken',
  primary: 'border-transparent bg-accent text-on-accent font-medium hover:brightness-110',
  danger: 'border-transparent bg-bad-bg text-bad font-medium hover:brightness-95',
  ghost: 'border-transparent text-dim hover:bg-sunken hover:text-text',
}

const sizes = { small: 'h-6 px-2 text-sm', medium: 'h-7.5 px-2.5', icon: 'size-7.5 justify-center' } as const

export const buttonLook = (kind: ButtonKind = 'plain', size: keyof typeof sizes = 'medium'): string =>
  classes(
    'inline-flex shrink-0 items-center gap-1.5 whitespace-nowrap rounded-md border transition-colors select-none',
    'disabled:opacity-50 data-disabled:opacity-50 max-sm:min-h-9 print:hidden',
    looks[kind],
    sizes[size],
  )

type ButtonProps = Omit<ComponentProps<'button'>, 'type'> & {
  readonly kind?: ButtonKind
  readonly size?: keyof typeof sizes
  readonly submit?: boolean
}

export const Button = ({ kind, size, submit = false, className, ...rest }: ButtonProps) => (
  <button type={submit ? 'submit' : 'button'} className={classes(buttonLook(kind, size), className)} {...rest} />
)

/** An icon-only button has an accessible name. */
export const IconButton = ({
  label,
  children,
  ...rest
}: Omit<ButtonProps, 'size' | 'aria-label'> & { readonly label: string; readonly children: ReactNode }) => (
  <Button size="icon" kind="ghost" aria-label={label} title={label} {...rest}>
    {children}
  </Button>
)
