import type { ReactNode } from 'react'
import { classes } from './classes.ts'
import { groundClasses } from '../words/tone.ts'
import type { Tone } from '../../words/tone.ts'

export const Badge = ({ tone = 'quiet', children }: { tone?: Tone; children: ReactNode }) => (
  <span
    className={classes(
      'inline-flex max-w-full items-center gap-1.5 rounded-full px-2 py-px text-sm font-medium',
      groundClasses[tone],
    )}
  >
    {children}
  </span>
)

/** Text from a machine, not from us: a tool name, a ref, a key. */
export const Tag = ({ children, className }: { children: ReactNode; className?: string }) => (
  <span
    className={classes(
      'inline-block shrink-0 rounded border border-line bg-sunken px-1.5 font-mono text-xs leading-4.5 text-dim',
      className,
    )}
  >
    {children}
  </span>
)

export const Kbd = ({ children }: { children: ReactNode }) => (
  <kbd className="rounded border border-line bg-panel px-1.5 font-mono text-xs leading-4.5 text-faint">{children}</kbd>
)
