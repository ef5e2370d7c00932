import { CircleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { Button } from './button.tsx'
import { classes } from './classes.ts'

/** Placeholders at the content's final height, so that the layout does not shift. */
export const Skeleton = ({ className }: { className?: string }) => (
  <span aria-hidden className={classes('shimmer block rounded', className ?? 'h-3.5 w-full')} />
)

export const SkeletonRows = ({ rows, height }: { rows: number; height: string }) => (
  <div role="status" aria-label="Loading" className="divide-y divide-line">
    {Array.from({ length: rows }, (_, row) => (
      <div key={row} className={classes('flex items-center gap-6 px-3.5', height)}>
        <Skeleton className="h-3.5 w-40" />
        <Skeleton className="h-3.5 w-56 max-sm:hidden" />
        <Skeleton className="ml-auto h-3.5 w-20" />
      </div>
    ))}
  </div>
)

export const EmptyState = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="mx-auto flex max-w-xl flex-col items-center gap-2 px-6 py-10 text-center">
    <p className="font-semibold">{title}</p>
    {children !== undefined && <div className="text-dim">{children}</div>}
  </div>
)

type ProblemNoticeProps = { title: string; detail?: string; code?: string; onRetry?: () => void; children?: ReactNode }

/** The error, and what the user can do about it. */
export const ProblemNotice = ({ title, detail, code, onRetry, children }: ProblemNoticeProps) => (
  <div role="alert" className="mx-auto flex max-w-xl flex-col items-center gap-2 px-6 py-10 text-center">
    <CircleAlert aria-hidden className="size-5 text-bad" />
    <p className="font-semibold">{title}</p>
    {detail !== undefined && <p className="text-dim">{detail}</p>}
    {code !== undefined && <code className="font-mono text-xs text-faint">{code}</code>}
    <div className="mt-1 flex gap-2">
      {onRetry && <Button onClick={onRetry}>Retry</Button>}
      {children}
    </div>
  </div>
)
