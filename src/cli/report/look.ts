import type { IterationRecord, Verdict } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { html, type Html } from './html.ts'

/** How a verdict looks: its mark, and a class of the style sheet. */
export const marks: Readonly<Record<Verdict, readonly [mark: string, kind: string]>> = {
  accepted: ['✓', 'good'],
  completed: ['✓', 'good'],
  continue: ['✓', 'good'],
  refused: ['✗', 'bad'],
  failed: ['✗', 'bad'],
  premature: ['~', 'so-so'],
  malformed: ['~', 'so-so'],
  'needs-human': ['?', 'so-so'],
  interrupted: ['■', 'so-so'],
}

export const lengthOf = ({ startedAt, endedAt }: IterationRecord): number => Math.max(0, endedAt - startedAt)

/** To the minute, and it says which time that is. */
export const moment = (at: number): string =>
  formatTimestamp(at)
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC')

export const section = (title: string, body: Html): Html =>
  html`<section>
    <h2>${title}</h2>
    ${body}
  </section>`

/** Names of checks with how they ended, as far as they were run. */
export const checkPills = ({ checks = [], review }: IterationRecord): Html[] => [
  ...checks.map(({ name, passed }) => pill(name, passed)),
  ...(review ? [pill('review', review.passed)] : []),
]

const pill = (name: string, passed: boolean): Html =>
  html`<span class="pill ${passed ? 'good' : 'bad'}">${passed ? '✓' : '✗'} ${name}</span> `
