import { type ErrorCode, formatPlace, type Place } from '../../contract/errors.ts'

export type Source = {
  /** Path as shown to users. */
  readonly file: string
  readonly text: string
}

export type Diagnostic = {
  readonly severity: 'error' | 'warning'
  readonly code: ErrorCode
  readonly message: string
  readonly place?: Place
  readonly hint?: string
  readonly sourceLine?: string
}

/** Returns undefined, so that a stage can bail out with `return report(…)`. */
export type AddDiagnostic = (diagnostic: Diagnostic) => undefined

export const isErrorDiagnostic = (diagnostic: Diagnostic): boolean => diagnostic.severity === 'error'

/** Further diagnostics are summarized in one line. */
const maxDiagnostics = 200

export type DiagnosticCollector = {
  readonly report: AddDiagnostic
  readonly failed: () => boolean
  /** Deduplicated: the main file first, the others in order of discovery, places from top to bottom. */
  readonly all: () => readonly Diagnostic[]
}

export function createDiagnosticCollector(main: Source): DiagnosticCollector {
  const known = new Map<string, Diagnostic>()
  let failed = false
  let omitted = 0
  return {
    report(diagnostic) {
      failed ||= isErrorDiagnostic(diagnostic)
      const { severity, code, message, place } = diagnostic
      const key = JSON.stringify([severity, code, message, place])
      if (known.has(key)) return
      if (known.size < maxDiagnostics) known.set(key, diagnostic)
      else omitted += 1
    },
    failed: () => failed,
    all: () => [
      ...inFileOrder([...known.values()], main.file),
      ...(omitted > 0 ? [summarizeRest(omitted, failed)] : []),
    ],
  }
}

const summarizeRest = (count: number, failed: boolean): Diagnostic => ({
  severity: failed ? 'error' : 'warning',
  code: 'TOO_MANY_PROBLEMS',
  message: `and ${count} more`,
})

function inFileOrder(diagnostics: readonly Diagnostic[], main: string): Diagnostic[] {
  const files = [...new Set([main, ...diagnostics.map(({ place }) => place?.file)])]
  const order = new Map(files.map((file, index) => [file, index]))
  const rank = ({ place }: Diagnostic) => order.get(place?.file) ?? 0
  return diagnostics.toSorted(
    (a, b) =>
      rank(a) - rank(b) ||
      (a.place?.line ?? 0) - (b.place?.line ?? 0) ||
      (a.place?.column ?? 0) - (b.place?.column ?? 0),
  )
}

/** `file:line:column  error CODE  message`, then the source line with a caret, then the hint. */
export function formatDiagnostic(diagnostic: Diagnostic, style: { readonly color: boolean }): string {
  const paint = style.color ? ansi : plain
  const { severity, code, message, place, hint } = diagnostic
  const head = [
    ...(place ? [paint.bold(replaceUnprintable(formatPlace(place)))] : []),
    severity === 'error' ? paint.red(`error ${code}`) : paint.yellow(`warning ${code}`),
    replaceUnprintable(message),
  ]
  return [
    head.join('  '),
    ...excerpt(diagnostic, paint),
    ...(hint === undefined ? [] : [`    ${paint.dim('hint:')} ${replaceUnprintable(hint)}`]),
  ].join('\n')
}

/** Maximum shown width of a source line; a longer line is cut around the place. */
const excerptWidth = 100

function excerpt({ place, sourceLine, severity }: Diagnostic, paint: DiagnosticPaint): string[] {
  if (sourceLine === undefined || place?.line === undefined || place.column === undefined) return []
  const caret = place.column - 1
  const from = caret < excerptWidth ? 0 : caret - excerptWidth / 2
  const line = replaceUnprintable(sourceLine.slice(from, from + excerptWidth))
  const number = String(place.line)
  const mark = severity === 'error' ? paint.red('^') : paint.yellow('^')
  return [
    `    ${paint.dim(`${number} |`)} ${line}`,
    `    ${paint.dim(`${' '.repeat(number.length)} |`)} ${' '.repeat(caret - from)}${mark}`,
  ]
}

// oxlint-disable-next-line no-control-regex -- file contents must not control the terminal
const unprintable = /[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g

const replaceUnprintable = (text: string): string => text.replace(/[\t\n]/g, ' ').replace(unprintable, '\ufffd')

type DiagnosticPaint = Readonly<Record<'bold' | 'dim' | 'red' | 'yellow', (text: string) => string>>

const createAnsiColor = (code: number) => (text: string) => `\u001b[${code}m${text}\u001b[0m`
const ansi: DiagnosticPaint = {
  bold: createAnsiColor(1),
  dim: createAnsiColor(2),
  red: createAnsiColor(31),
  yellow: createAnsiColor(33),
}
const keepText = (text: string): string => text
const plain: DiagnosticPaint = { bold: keepText, dim: keepText, red: keepText, yellow: keepText }
