import type { IterationRecord } from '../../contract/progress.ts'
import { formatTimestamp } from '../../contract/time.ts'
import type { Tone } from '../tone.ts'
import { html, type HtmlMarkup } from './html.ts'

/** The CSS class of a tone. */
export const toneClass = (tone: Tone): string => (tone === 'ok' ? 'good' : tone === 'bad' ? 'bad' : 'so-so')

export const iterationDuration = ({ startedAt, endedAt }: IterationRecord): number => Math.max(0, endedAt - startedAt)

/** A time to the minute, with its zone. */
export const formatMinute = (at: number): string =>
  formatTimestamp(at)
    .replace('T', ' ')
    .replace(/:\d\d\.\d+Z$/, ' UTC')

export const reportSection = (title: string, body: HtmlMarkup): HtmlMarkup =>
  html`<section>
    <h2>${title}</h2>
    ${body}
  </section>`

/** The names of the checks that ran, with their results. */
export const checkPills = ({ checks = [], review }: IterationRecord): HtmlMarkup[] => [
  ...checks.map(({ name, passed }) => checkPill(name, passed)),
  ...(review ? [checkPill('review', review.passed)] : []),
]

const checkPill = (name: string, passed: boolean): HtmlMarkup =>
  html`<span class="pill ${passed ? 'good' : 'bad'}">${passed ? '✓' : '✗'} ${name}</span> `
