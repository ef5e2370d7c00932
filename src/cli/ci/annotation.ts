import type { Diagnostic } from '../../compiler/parse/diagnostics.ts'
import { formatPlace, type Place, type RalphError } from '../../contract/errors.ts'
import type { SprintEvent } from '../../contract/events.ts'
import type { SprintStatus } from '../../contract/progress.ts'
import { clip, oneLine } from '../io/paint.ts'

type Level = 'error' | 'warning' | 'notice'
type About = { readonly title: string; readonly place?: Place | undefined }

/** GitHub truncates longer annotations. */
const mostCharacters = 4000

/** Formats a workflow command that GitHub Actions shows on the run, and on the file if one is given. */
export function annotation(level: Level, text: string, { title, place }: About): string {
  const properties = { file: place?.file, line: place?.line, col: place?.column, title }
  const given = Object.entries(properties).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${escapeProperty(String(value))}`],
  )
  return `::${level} ${given.join(',')}::${escapeData(clip(text, mostCharacters))}`
}

/** Escapes the text after the second `::`. The percent sign comes first; otherwise it would be escaped twice. */
const escapeData = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

/** Maps an event to an annotation: refusals, failures, questions, and the final status. */
export function annotationOf(event: SprintEvent): string | undefined {
  if (event.type === 'sprint-rested') return endOf(event.status, event.reason)
  if (event.type === 'question-asked')
    return annotation('error', questionText(event), { title: `A human is needed: ${oneLine(event.reason)}` })
  const trouble = troubleIn(event)
  return trouble && annotation('warning', trouble.text, { title: `Iteration ${trouble.iteration}: ${trouble.what}` })
}

/** A failure along the way; the sprint continues. */
function troubleIn(event: SprintEvent) {
  if (event.type === 'claim-refused') {
    const { iteration, by, reason } = event
    return { iteration, what: `claim refused by ${by.join(', ')}`, text: oneLine(reason) }
  }
  if (event.type === 'attempt-failed') {
    const { iteration, class: failure, reason } = event
    return { iteration, what: failure.replace('_', ' '), text: oneLine(reason) }
  }
  if (event.type === 'hook-ended' && !event.ok)
    return { iteration: event.iteration, what: `hook ${event.hook} failed`, text: whyOf(event) }
  if (event.type === 'gate-ended' && !event.passed)
    return { iteration: event.iteration, what: `gate of ${event.work.phase} failed`, text: whyOf(event) }
  return undefined
}

const whyOf = ({
  error,
  exitCode,
}: {
  readonly error?: string | undefined
  readonly exitCode: number | null
}): string => oneLine(error ?? `exit code ${exitCode}`)

const questionText = ({ details, options = [] }: Extract<SprintEvent, { type: 'question-asked' }>): string =>
  [details.trim(), ...options.map((option, index) => `${index + 1}. ${oneLine(option)}`)]
    .filter((line) => line !== '')
    .join('\n') || 'see the job summary'

/** The question already has its own annotation. */
const ends: Readonly<Record<SprintStatus, readonly [Level, string] | undefined>> = {
  completed: ['notice', 'The goal is reached'],
  paused: ['notice', 'The sprint is paused'],
  'paused-at-breakpoint': ['notice', 'The sprint is paused at a breakpoint'],
  'not-started': undefined,
  'in-progress': undefined,
  parked: ['warning', 'The sprint is parked'],
  blocked: ['error', 'The sprint is blocked'],
  failed: ['error', 'The sprint has failed'],
  'needs-human': undefined,
  'limit-reached': ['warning', 'The sprint has reached a limit'],
  interrupted: ['warning', 'The sprint was interrupted'],
}

function endOf(status: SprintStatus, reason: string | undefined): string | undefined {
  const [level, title] = ends[status] ?? []
  if (level === undefined || title === undefined) return undefined
  return annotation(level, oneLine(reason ?? '') || status, { title })
}

/** Points to the line of the file that the error names. */
export const annotationOfDiagnostic = ({ severity, code, message, hint, place }: Diagnostic): string =>
  annotation(severity === 'error' ? 'error' : 'warning', hint === undefined ? message : `${message} (${hint})`, {
    title: code,
    place,
  })

export const annotationOfError = ({ code, message, hint, place }: RalphError): string =>
  annotation('error', `${place ? `${formatPlace(place)}: ` : ''}${message}${hint === undefined ? '' : ` (${hint})`}`, {
    title: code,
  })

/** Neutralizes a line of foreign text so that GitHub Actions does not read it as a workflow command. */
export const harmless = (text: string): string => text.replaceAll(/^(\s*):(?=:)/gm, '$1: ').replaceAll('##[', '# #[')
