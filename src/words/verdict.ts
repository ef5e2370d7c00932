import type { IterationRecord, Mode, Verdict } from '../contract/progress.ts'
import type { Tone } from './tone.ts'

export type VerdictSign = 'progress' | 'same' | 'no' | 'asks' | 'stopped' | 'now' | 'goal'

export type VerdictBadge = { readonly sign: VerdictSign; readonly tone: Tone; readonly words: string }

/** The glyph of an iteration and its words. */
export function verdictBadge({
  verdict,
  changed,
  mode,
}: {
  verdict?: Verdict | undefined
  changed?: boolean | undefined
  mode?: Mode | undefined
}): VerdictBadge {
  switch (verdict) {
    case undefined:
      return { sign: 'now', tone: 'accent', words: 'running' }
    case 'continue':
      if (mode === 'planning') return { sign: 'progress', tone: 'ok', words: 'planned' }
      return changed === false
        ? { sign: 'same', tone: 'quiet', words: 'changed nothing' }
        : { sign: 'progress', tone: 'ok', words: 'made progress' }
    case 'completed':
      return { sign: 'progress', tone: 'ok', words: 'completed its phase' }
    case 'accepted':
      return { sign: 'goal', tone: 'ok', words: 'goal reached: the claim was accepted' }
    case 'refused':
      return { sign: 'no', tone: 'bad', words: 'claimed goal-complete, refused' }
    case 'premature':
      return { sign: 'same', tone: 'quiet', words: 'claimed goal-complete too early' }
    case 'needs-human':
      return { sign: 'asks', tone: 'warn', words: 'asked you' }
    case 'malformed':
      return { sign: 'no', tone: 'bad', words: 'gave no valid report' }
    case 'failed':
      return { sign: 'no', tone: 'bad', words: 'failed' }
    case 'interrupted':
      return { sign: 'stopped', tone: 'quiet', words: 'was stopped' }
  }
}

/** `claimed goal-complete, refused: npm test` */
export function describeVerdict(
  record: Pick<IterationRecord, 'verdict' | 'changed' | 'checks' | 'review'> & {
    readonly mode?: Mode | undefined
  },
): string {
  const { words } = verdictBadge(record)
  const red = (record.checks ?? []).filter(({ passed }) => !passed).map(({ name }) => name)
  if (record.verdict !== 'refused') return words
  return red.length > 0 ? `${words}: ${red.join(', ')}` : `${words} by the review`
}

export const shortMode: Readonly<Record<IterationRecord['mode'], string>> = {
  planning: 'plan',
  executing: '',
  reflecting: 'refl',
}

export type VerdictTone = Extract<Tone, 'ok' | 'bad' | 'warn'>

/** One character for tables and strips. */
export const verdictMarks: Readonly<Record<Verdict, { readonly mark: string; readonly tone: VerdictTone }>> = {
  accepted: { mark: '✓', tone: 'ok' },
  completed: { mark: '✓', tone: 'ok' },
  continue: { mark: '✓', tone: 'ok' },
  refused: { mark: '✗', tone: 'bad' },
  failed: { mark: '✗', tone: 'bad' },
  premature: { mark: '~', tone: 'warn' },
  malformed: { mark: '~', tone: 'warn' },
  'needs-human': { mark: '?', tone: 'warn' },
  interrupted: { mark: '■', tone: 'warn' },
}
