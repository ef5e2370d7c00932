import { execFileSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { noUsage } from '../../contract/outcome.ts'
import { commandDriver } from './command.ts'
import type { Exit } from '../readers/outcome.ts'

const spec = { cwd: '/project', folder: '/attempt', sprintDir: '/sprint' }
const readOutcome = (lines: readonly string[], exit: Partial<Exit> = {}) => {
  const reader = commandDriver('./agent').read()
  for (const line of lines) reader.parse(line)
  return reader.finish({ code: 0, signal: null, stderrTail: '', ...exit })
}
const event = (fields: object) => JSON.stringify(fields)

describe('the command line', () => {
  it('is split like a shell would, but runs without one', () => {
    const driver = commandDriver(`./my-agent --flag "two words" 'it''s' a\\ b $HOME ""`)

    expect(driver.program).toBe('./my-agent')
    expect(driver.command(spec)).toEqual({
      file: '/project/my-agent',
      args: ['--flag', 'two words', 'its', 'a b', '$HOME', ''],
    })
  })

  it.each([
    ['./my-agent', '/project/my-agent'],
    ['../tools/my-agent', '/tools/my-agent'],
    ['tools/my-agent', '/project/tools/my-agent'],
    ['/bin/my-agent', '/bin/my-agent'],
    ['my-agent', 'my-agent'],
  ])('names a program of the project, no matter the working folder: %s', (line, file) => {
    const elsewhere = { ...spec, cwd: '/worktree', project: '/project' }

    expect(commandDriver(line).command(elsewhere).file).toBe(file)
    expect(commandDriver(`${line} {prompt}`).command(elsewhere).args[1]).toContain(`exec '${file}' `)
  })

  it('gets the path of a file with the prompt for {prompt-file}', () => {
    expect(commandDriver('agent --file={prompt-file}').command(spec).args).toEqual(['--file=/attempt/prompt.md'])
  })

  it('gets the prompt itself for {prompt}, whatever it contains', () => {
    const prompt = `say "hi" 'there' $(id) \`b\` \\ {prompt}\nsecond line`
    const { file, args } = commandDriver(`printf '<%s>' "it's" --ask={prompt} ''`).command(spec)

    expect(execFileSync(file, args, { input: prompt, encoding: 'utf8' })).toBe(`<it's><--ask=${prompt}><>`)
  })

  it.each(['agent "open', "agent 'open", 'agent \\'])('is rejected if a quote is not closed: %s', (line) => {
    expect(() => commandDriver(line)).toThrowError(expect.objectContaining({ code: 'USAGE' }))
  })

  it('must name a program to start, but not to read the output of one', () => {
    expect(() => commandDriver('').command(spec)).toThrowError(expect.objectContaining({ code: 'USAGE' }))
    expect(commandDriver('').read().parse('hello')).toEqual([{ kind: 'text', text: 'hello\n' }])
  })
})

describe('the output of any program', () => {
  it('is its answer, if the program exits with code 0', () => {
    expect(readOutcome(['Done.', '', '{"status": "continue"'])).toEqual({
      status: 'ok',
      retryable: false,
      text: 'Done.\n\n{"status": "continue"\n',
      usage: noUsage,
      resumable: false,
    })
  })

  it('is no answer, if it is empty or the exit code is not 0', () => {
    expect(readOutcome([])).toMatchObject({ status: 'failed', class: 'crash' })
    expect(readOutcome(['all is well'], { code: 1 })).toMatchObject({
      status: 'failed',
      class: 'crash',
      text: 'all is well\n',
    })
  })

  it('may contain lines of JSON in its text, such as a report', () => {
    const lines = ['Done.', '```json', event({ status: 'continue', summary: 'on' }), '```']

    expect(readOutcome(lines)).toMatchObject({ status: 'ok', text: `${lines.join('\n')}\n` })
  })

  it('may be the stream of Claude Code', () => {
    expect(readOutcome(['a banner', event({ type: 'result', subtype: 'success', result: 'done' })])).toMatchObject({
      status: 'ok',
      text: 'done',
    })
    expect(readOutcome([event({ type: 'system', subtype: 'init', session_id: 's' })]).status).toBe('failed')
  })

  it('may be our own events', () => {
    const usage = { ...noUsage, inputTokens: 7 }
    const lines = [
      event({ kind: 'session', id: 's-1' }),
      event({ kind: 'usage', usage }),
      event({ kind: 'text', text: 'the answer' }),
      event({ kind: 'terminal', ok: true }),
    ]

    expect(readOutcome(lines)).toMatchObject({ status: 'ok', text: 'the answer', sessionId: 's-1', usage })
    // Each attempt starts the same command, so a session cannot be resumed.
    expect(readOutcome(lines).resumable).toBe(false)
    expect(readOutcome(lines.slice(0, -1)).status).toBe('failed')
  })

  it('may report a limit and its end', () => {
    const lines = [event({ kind: 'limit', resetsAt: 1000 }), event({ kind: 'terminal', ok: false, reason: 'used up' })]

    expect(readOutcome(lines, { code: 1 })).toMatchObject({ class: 'usage_limit', resetsAt: 1000, reason: 'used up' })
  })

  it('is cut to its last part if it is endless', () => {
    const line = 'x'.repeat(1024 * 1024)

    expect(readOutcome([line, line, line, line, line, line, 'the end']).text.length).toBeLessThan(5 * 1024 * 1024)
  })
})
