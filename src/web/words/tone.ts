import type { Tone } from '../../words/tone.ts'

// Each tone has one colour. Nothing else is coloured.

export const fillClasses: Readonly<Record<Tone, string>> = {
  ok: 'bg-ok-fill',
  warn: 'bg-warn-fill',
  bad: 'bg-bad-fill',
  info: 'bg-info-fill',
  accent: 'bg-accent',
  quiet: 'bg-line-strong',
}

export const textClasses: Readonly<Record<Tone, string>> = {
  ok: 'text-ok',
  warn: 'text-warn',
  bad: 'text-bad',
  info: 'text-info',
  accent: 'text-accent-text',
  quiet: 'text-faint',
}

export const groundClasses: Readonly<Record<Tone, string>> = {
  ok: 'bg-ok-bg text-ok',
  warn: 'bg-warn-bg text-warn',
  bad: 'bg-bad-bg text-bad',
  info: 'bg-accent-bg text-info',
  accent: 'bg-accent-bg text-accent-text',
  quiet: 'bg-sunken text-dim',
}
