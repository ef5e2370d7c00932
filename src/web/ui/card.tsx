import type { ReactNode } from 'react'
import { classes } from './classes.ts'

export const Card = ({ children, className, label }: { children: ReactNode; className?: string; label?: string }) => (
  <section
    aria-label={label}
    className={classes('min-w-0 overflow-hidden rounded-[10px] border border-line bg-panel', className)}
  >
    {children}
  </section>
)

/** `aside` is at the right end. */
export const CardHead = ({ children, aside }: { children: ReactNode; aside?: ReactNode }) => (
  <div className="flex min-h-10 items-center gap-2.5 border-b border-line px-3.5 py-1.5">
    <h2 className="flex min-w-0 flex-1 items-center gap-2.5 text-sm font-semibold text-dim">{children}</h2>
    {aside}
  </div>
)
