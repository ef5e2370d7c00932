import type { ErrorCode } from '../../contract/errors.ts'
import type { Diagnostic, Source } from './diagnostics.ts'
import { createLineIndex, type SourceSpot } from './line-index.ts'
import { composeDocument, fileLimits, type YamlProblem } from './yaml-document.ts'
import { type Path, toValue } from './yaml-value.ts'

export type { Path } from './yaml-value.ts'

type TextWithin = { readonly text: string }

/** A YAML file as plain data with the source position of each part. */
export type ParsedFile = {
  readonly source: Source
  readonly value: unknown
  /** Locates the value at `path`, its key, or a text within it; falls back to the nearest enclosing value. */
  readonly locate: (path: Path, part?: 'key' | 'value' | TextWithin) => SourceSpot
}

/** Returns the raw value at a path, before decoding. */
export function getRawValue({ value }: ParsedFile, path: Path): unknown {
  let current = value
  for (const segment of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, segment)) return undefined
    current = Reflect.get(current, segment)
  }
  return current
}

/** The place in a file that a diagnostic is about. */
export type DiagnosticTarget = {
  readonly parsed: ParsedFile
  readonly path: Path
  readonly part?: 'key' | 'value' | TextWithin
}

type DiagnosticText = { readonly code: ErrorCode; readonly message: string; readonly hint?: string }

export const errorAt = ({ parsed, path, part }: DiagnosticTarget, found: DiagnosticText): Diagnostic => ({
  severity: 'error',
  ...found,
  ...parsed.locate(path, part),
})

export const warningAt = ({ parsed, path, part }: DiagnosticTarget, found: DiagnosticText): Diagnostic => ({
  severity: 'warning',
  ...found,
  ...parsed.locate(path, part),
})

export type ParseResult = { readonly parsed?: ParsedFile; readonly diagnostics: readonly Diagnostic[] }

/** Parses one YAML document. `code` is the code of all syntax errors. */
export function parseYaml(source: Source, code: ErrorCode): ParseResult {
  const lines = createLineIndex(source)
  const fail = (troubles: readonly YamlProblem[]): ParseResult => ({
    diagnostics: troubles
      .slice(0, fileLimits.syntaxErrors)
      .map(({ offset, message }) => ({ severity: 'error', code, message, ...lines.at(offset) })),
  })
  const { document, troubles } = composeDocument(source.text)
  if (troubles.length > 0) return fail(troubles)
  const { value, troubles: found, getOffset } = toValue(document)
  if (found.length > 0) return fail(found)
  const locate: ParsedFile['locate'] = (path, part = 'value') => {
    if (typeof part === 'string') return lines.at(getOffset(path, part))
    const offset = getOffset(path, 'value')
    const inner = source.text.indexOf(part.text, offset)
    return lines.at(inner === -1 ? offset : inner)
  }
  return { parsed: { source, value, locate }, diagnostics: [] }
}
