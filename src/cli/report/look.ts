import type { IterationRecord, Verdict } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { html, type Html } from './html.ts'

/** The mark and the CSS class of a verdict. */
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

/** A time to the minute, with its zone. */
export const moment = (at: number): string =>
  formatTimestamp(at)
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC')

export const section = (title: string, body: Html): Html =>
  html`<section>
    <h2>${title}</h2>
    ${body}
  </section>`

/** The names of the checks that ran, with their results. */
export const checkPills = ({ checks = [], review }: IterationRecord): Html[] => [
  ...checks.map(({ name, passed }) => pill(name, passed)),
  ...(review ? [pill('review', review.passed)] : []),
]

const pill = (name: string, passed: boolean): Html =>
  html`<span class="pill ${passed ? 'good' : 'bad'}">${passed ? '✓' : '✗'} ${name}</span> `
