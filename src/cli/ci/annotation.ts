import type { Diagnostic } from '../../compiler/parse/diagnostics.ts'
import { formatPlace, type Place, type RalphError } from '../../contract/errors.ts'
import type { SprintEvent } from '../../contract/events.ts'
import type { SprintStatus } from '../../contract/progress.ts'
import { describeExit, failureWords } from '../../words/event-sentences.ts'
import { statusWords } from '../../words/status.ts'
import { clipLine, toOneLine } from '../../words/text.ts'

type AnnotationLevel = 'error' | 'warning' | 'notice'
type AnnotationTarget = { readonly title: string; readonly place?: Place | undefined }

/** GitHub truncates longer annotations. */
const maxAnnotationLength = 4000

/** Formats a workflow command that GitHub Actions shows on the run, and on the file if one is given. */
export function formatAnnotation(level: AnnotationLevel, text: string, { title, place }: AnnotationTarget): string {
  const properties = { file: place?.file, line: place?.line, col: place?.column, title }
  const fields = Object.entries(properties).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${escapeProperty(String(value))}`],
  )
  return `::${level} ${fields.join(',')}::${escapeData(clipLine(text, maxAnnotationLength))}`
}

/** Escapes the text after the second `::`. The percent sign comes first; otherwise it would be escaped twice. */
const escapeData = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')

const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')

/** Maps an event to an annotation: refusals, failures, questions, and the final status. */
export function annotateEvent(event: SprintEvent): string | undefined {
  if (event.type === 'sprint-rested') return annotateEnd(event.status, event.reason)
  if (event.type === 'question-asked')
    return formatAnnotation('error', formatQuestion(event), {
      title: `${statusWords['needs-human'].sentence}: ${toOneLine(event.reason)}`,
    })
  const trouble = describeTrouble(event)
  return (
    trouble && formatAnnotation('warning', trouble.text, { title: `Iteration ${trouble.iteration}: ${trouble.what}` })
  )
}

/** A failure along the way; the sprint continues. */
function describeTrouble(event: SprintEvent) {
  if (event.type === 'claim-refused') {
    const { iteration, by, reason } = event
    return { iteration, what: `claim refused by ${by.join(', ')}`, text: toOneLine(reason) }
  }
  if (event.type === 'attempt-failed') {
    const { iteration, class: failure, reason } = event
    return { iteration, what: failureWords(failure), text: toOneLine(reason) }
  }
  if (event.type === 'hook-ended' && !event.ok)
    return { iteration: event.iteration, what: `hook ${event.hook} failed`, text: toOneLine(describeExit(event)) }
  if (event.type === 'gate-ended' && !event.passed)
    return {
      iteration: event.iteration,
      what: `gate of ${event.work.phase} failed`,
      text: toOneLine(describeExit(event)),
    }
  return undefined
}

const formatQuestion = ({ details, options = [] }: Extract<SprintEvent, { type: 'question-asked' }>): string =>
  [details.trim(), ...options.map((option, index) => `${index + 1}. ${toOneLine(option)}`)]
    .filter((line) => line !== '')
    .join('\n') || 'see the job summary'

/** undefined: no annotation; the question already has its own. */
const endLevels: Readonly<Record<SprintStatus, AnnotationLevel | undefined>> = {
  completed: 'notice',
  paused: 'notice',
  'paused-at-breakpoint': 'notice',
  'not-started': undefined,
  'in-progress': undefined,
  parked: 'warning',
  blocked: 'error',
  failed: 'error',
  'needs-human': undefined,
  'limit-reached': 'warning',
  interrupted: 'warning',
}

function annotateEnd(status: SprintStatus, reason: string | undefined): string | undefined {
  const level = endLevels[status]
  if (level === undefined) return undefined
  return formatAnnotation(level, toOneLine(reason ?? '') || status, { title: statusWords[status].sentence })
}

/** Points to the line of the file that the error names. */
export const annotateDiagnostic = ({ severity, code, message, hint, place }: Diagnostic): string =>
  formatAnnotation(severity === 'error' ? 'error' : 'warning', hint === undefined ? message : `${message} (${hint})`, {
    title: code,
    place,
  })

export const annotateError = ({ code, message, hint, place }: RalphError): string =>
  formatAnnotation(
    'error',
    `${place ? `${formatPlace(place)}: ` : ''}${message}${hint === undefined ? '' : ` (${hint})`}`,
    {
      title: code,
    },
  )

/** Neutralizes a line of foreign text so that GitHub Actions does not read it as a workflow command. */
export const escapeWorkflowCommand = (text: string): string =>
  text.replaceAll(/^(\s*):(?=:)/gm, '$1: ').replaceAll('##[', '# #[')
