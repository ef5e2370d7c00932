import { classes } from './classes.ts'
import { fillClasses } from '../words/tone.ts'
import type { Tone } from '../../words/tone.ts'

/** Has a text label for users who do not see its colour. */
export const Dot = ({ tone, label, live = false }: { tone: Tone; label?: string; live?: boolean }) => (
  <span
    className={classes('inline-block size-2 shrink-0 rounded-full', fillClasses[tone], live && 'pulse')}
    {...(label === undefined ? { 'aria-hidden': true } : { role: 'img', 'aria-label': label, title: label })}
  />
)
