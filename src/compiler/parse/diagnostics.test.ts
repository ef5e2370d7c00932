import { describe, expect, it } from 'vitest'
import { compileTest } from '../../../test/support/compile.ts'
import { createDiagnosticCollector, type Diagnostic, formatDiagnostic } from './diagnostics.ts'

const found: Diagnostic = {
  severity: 'error',
  code: 'INVALID_MODEL',
  message: '"opsu" is not a model of agent "claude"',
  place: { file: 'SPRINT.yaml', line: 12, column: 8 },
  sourceLine: 'model: opsu',
  hint: 'did you mean "opus"?',
}

describe('a diagnostic on screen', () => {
  it('is one line, the source line with a caret, and a hint', () => {
    expect(formatDiagnostic(found, { color: false })).toBe(
      [
        'SPRINT.yaml:12:8  error INVALID_MODEL  "opsu" is not a model of agent "claude"',
        '    12 | model: opsu',
        '       |        ^',
        '    hint: did you mean "opus"?',
      ].join('\n'),
    )
  })

  it('has colours only if enabled', () => {
    expect(formatDiagnostic(found, { color: true })).toContain('\u001b[31merror INVALID_MODEL\u001b[0m')
    expect(formatDiagnostic(found, { color: false })).not.toContain('\u001b')
  })

  it('may lack a place and a hint', () => {
    const bare: Diagnostic = { severity: 'warning', code: 'UNKNOWN_FIELD', message: 'x' }

    expect(formatDiagnostic(bare, { color: false })).toBe('warning UNKNOWN_FIELD  x')
  })

  it('never lets the text of a file control the terminal', () => {
    const evil = { ...found, message: 'a\u001b[2Jb\nc', sourceLine: '\u001b]0;x\u0007\tz', hint: '\u202ehint' }

    expect(formatDiagnostic(evil, { color: false })).toBe(
      [
        'SPRINT.yaml:12:8  error INVALID_MODEL  a\ufffd[2Jb c',
        '    12 | \ufffd]0;x\ufffd z',
        '       |        ^',
        '    hint: \ufffdhint',
      ].join('\n'),
    )
  })

  it('shows only the part of a long line around the place', () => {
    const line = `${'x'.repeat(300)}HERE${'y'.repeat(300)}`
    const [, shown = '', caret = ''] = formatDiagnostic(
      { ...found, place: { file: 'f', line: 1, column: 301 }, sourceLine: line },
      { color: false },
    ).split('\n')

    expect(shown.length).toBeLessThan(120)
    expect(shown.slice(caret.indexOf('^')).startsWith('HERE')).toBe(true)
  })
})

describe('diagnostics together', () => {
  const at = (file: string, line: number): Diagnostic => ({ ...found, place: { file, line, column: 1 } })

  it('are reported once, the main file first, from top to bottom', () => {
    const { report, all } = createDiagnosticCollector({ file: 'main', text: '' })
    for (const diagnostic of [at('other', 1), at('main', 9), at('main', 2), at('main', 9), at('third', 1)])
      report(diagnostic)

    expect(all()).toEqual([at('main', 2), at('main', 9), at('other', 1), at('third', 1)])
  })

  it('count as failed if one of them is an error', () => {
    const { report, failed } = createDiagnosticCollector({ file: 'main', text: '' })

    report({ ...found, severity: 'warning' })
    expect(failed()).toBe(false)
    report(found)
    expect(failed()).toBe(true)
  })

  it('in Windows files show no carriage return', () => {
    const [first] = compileTest('workflow: ralph\r\ngoal: [x]\r\n').diagnostics

    expect(first).toMatchObject({ place: { line: 2, column: 7 }, sourceLine: 'goal: [x]' })
  })
})
