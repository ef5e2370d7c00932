import { classes } from './classes.ts'

/** How much of a limit is used. */
export const UsageBar = ({ part, label, className }: { part: number; label: string; className?: string }) => {
  const percent = Math.round(Math.min(1, Math.max(0, part)) * 100)
  return (
    <span
      role="meter"
      aria-label={label}
      aria-valuenow={percent}
      aria-valuemin={0}
      aria-valuemax={100}
      title={label}
      className={classes('inline-block h-1.25 overflow-hidden rounded-full bg-line align-middle', className ?? 'w-30')}
    >
      <span
        className={classes('block h-full rounded-full', part >= 0.9 ? 'bg-bad-fill' : 'bg-accent')}
        style={{ width: `${percent}%` }}
      />
    </span>
  )
}
