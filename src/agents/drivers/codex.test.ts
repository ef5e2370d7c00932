import { describe, expect, it } from 'vitest'
import { recorded, replay } from '../../../test/fixtures/transcripts/recorded.ts'
import { noUsage } from '../../contract/outcome.ts'
import { codex, findCodexBinary } from './codex.ts'

const spec = { cwd: '/project', folder: '/attempt', sprintDir: '/sprint' }
const stream = (name: string) => recorded('codex').find((one) => one.name === `${name}.jsonl`)!
const native = (root: string, ...there: string[]) =>
  findCodexBinary(`${root}/bin/codex.js`, (path) => there.some((start) => path.startsWith(start)))

describe('the command of Codex', () => {
  it('reads the prompt from stdin, with everything allowed', () => {
    expect(codex.command(spec).args.join(' ')).toBe(
      'exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox --disable plugins ' +
        '-c analytics.enabled=false -c check_for_update_on_startup=false -',
    )
  })

  it('resumes a session with the chosen model', () => {
    expect(codex.command({ ...spec, model: 'gpt-6-sol', resume: 'abc' }).args.slice(-5)).toEqual([
      '--model',
      'gpt-6-sol',
      'resume',
      'abc',
      '-',
    ])
  })

  it('can enforce the form of the answer, which it reads from a file', () => {
    const { args, files } = codex.command({ ...spec, resume: 'abc', form: { type: 'object' } })

    expect(args.slice(-5)).toEqual(['--output-schema', '/attempt/form.json', 'resume', 'abc', '-'])
    expect(files).toEqual({ 'form.json': '{"type":"object"}' })
  })
})

describe('the binary behind the script', () => {
  const platform = `${process.platform}-${process.arch}`

  it('is searched where npm installs it', () => {
    expect(native('/lib/@openai/codex', `/lib/@openai/codex-${platform}/`)).toMatch(/\/vendor\/[^/]+\/bin\/codex$/)
    expect(native('/lib/@openai/codex', '/lib/@openai/codex/node_modules/')).toContain(
      `/node_modules/@openai/codex-${platform}/`,
    )
    expect(native('/lib/@openai/codex', '/lib/@openai/codex/vendor/')).toContain('/lib/@openai/codex/vendor/')
  })

  it('is undefined if npm did not install it', () => {
    expect(native('/lib/@openai/codex')).toBeUndefined()
    expect(findCodexBinary('/usr/local/bin/codex', () => true)).toBeUndefined()
  })
})

describe('the output of Codex', () => {
  it('becomes text, tools and usage', () => {
    const { events } = replay(codex, stream('tool'))

    expect(events.filter(({ kind }) => kind === 'tool')).toMatchObject([
      { phase: 'start', name: 'file_change', argument: '/sandbox/codex-tool/work/hello.txt' },
      { phase: 'end', name: 'file_change', ok: true },
      {
        phase: 'start',
        name: 'command_execution',
        argument: `/bin/bash -lc 'cat hello.txt && echo "pwd=$PWD" && exit 0'`,
      },
      {
        phase: 'end',
        name: 'command_execution',
        ok: true,
        output: 'hello from the stub\npwd=/sandbox/codex-tool/work\n',
      },
    ])
    expect(events.at(-1)).toEqual({ kind: 'terminal', ok: true })
  })

  it('is a retry with its status while Codex reconnects', () => {
    expect(replay(codex, stream('r401')).events.find(({ kind }) => kind === 'retry')).toMatchObject({
      kind: 'retry',
      attempt: 1,
      status: 401,
    })
  })

  it('counts only the new tokens of a resumed thread', () => {
    const before = replay(codex, stream('tool')).outcome.usage
    const reader = codex.read(before)
    for (const line of stream('resume').lines) reader.parse(line)

    expect(reader.finish(stream('resume').exit).usage).toEqual({
      ...noUsage,
      inputTokens: 400,
      outputTokens: 34,
      cacheReadTokens: 800,
    })
  })

  it('names the end of a limit as a time of day without seconds, so the limit ends with that minute', () => {
    const limit = stream('limitcodex')
    const at = new Date(2026, 10, 15, 18, 49, 6).getTime()
    const within = new Date(2026, 10, 15, 20, 49, 30).getTime()
    const later = new Date(2026, 10, 15, 20, 51).getTime()
    const over = new Date(2026, 10, 15, 20, 50).getTime()
    const resetsAt = (now: number) => replay(codex, { ...limit, exit: { ...limit.exit, at: now } }).outcome.resetsAt

    expect([at, within, later].map(resetsAt)).toEqual([over, over, over])
    expect(replay(codex, limit).outcome.resetsAt).toBeUndefined()
  })

  it('does not report its own start message on stderr as the reason for a crash', () => {
    expect(replay(codex, stream('SIGTERM-tool')).outcome.reason).toBe('it ended with SIGTERM and without a result')
  })
})
