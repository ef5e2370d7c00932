import { unknownText } from '../parse/decode.ts'
import type { AddDiagnostic } from '../parse/diagnostics.ts'
import { type DiagnosticTarget, errorAt } from '../parse/parse.ts'

/** Ids become parts of file names, so nothing is allowed that a path or a terminal would interpret. */
const unsafe = /[\p{C}/\\]|^\.|^\s|\s$|^__proto__$/u

export function checkId(id: string, at: DiagnosticTarget, report: AddDiagnostic): void {
  if (id === unknownText || !unsafe.test(id)) return
  report(
    errorAt(at, {
      code: 'INVALID_ID',
      message: `"${id}" cannot be used as an id`,
      hint: 'an id must not begin with a dot, nor contain slashes or control characters',
    }),
  )
}
