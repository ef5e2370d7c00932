import { classes } from './classes.ts'
import { fillClasses } from '../words/tone.ts'
import type { Tone } from '../../words/tone.ts'

export type MiniStripMark = { readonly key: number; readonly tone: Tone; readonly live?: boolean }

/** The last iterations of a row, too small to click. */
export const MiniStrip = ({ marks, label }: { marks: readonly MiniStripMark[]; label: string }) => (
  <span role="img" aria-label={label} title={label} className="inline-flex gap-0.5 align-middle">
    {marks.map(({ key, tone, live }) => (
      <span key={key} className={classes('h-3.5 w-1.5 rounded-[2px]', fillClasses[tone], live === true && 'pulse')} />
    ))}
  </span>
)
