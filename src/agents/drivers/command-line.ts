import { resolve } from 'node:path'
import { RalphError } from '../../contract/errors.ts'

/** Splits a command line into words, with shell quoting but without variables, globs or pipes. */
export function splitCommandLine(line: string): string[] {
  const words: string[] = []
  const pattern = /\s*((?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+)/gsy
  let end = 0
  for (const match of line.trimEnd().matchAll(pattern)) {
    words.push(unquote(match[1] ?? ''))
    end = match.index + match[0].length
  }
  if (end < line.trimEnd().length) {
    throw new RalphError('USAGE', `a quote is not closed in: ${line}`, {
      hint: 'close it, or escape it with a backslash',
    })
  }
  return words
}

const unquote = (word: string): string =>
  word.replaceAll(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/gs, (_, single, double, escaped) =>
    typeof single === 'string'
      ? single
      : typeof double === 'string'
        ? double.replaceAll(/\\(["\\$`])/g, '$1')
        : String(escaped),
  )

/** Resolves the program of a command line: a path is relative to the project, a bare name is looked up on PATH. */
export const resolveProgram = (project: string, program: string): string =>
  program.includes('/') ? resolve(project, program) : program
