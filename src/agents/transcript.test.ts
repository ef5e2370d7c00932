import { describe, expect, it } from 'vitest'
import { recorded } from '../../test/fixtures/transcripts/recorded.ts'
import { noUsage } from '../contract/outcome.ts'
import { command } from './command.ts'
import { driverNamed } from './registry.ts'
import { readTranscript, renderTranscript } from './transcript.ts'

const rendered = (agent: string, name: string) => {
  const stream = recorded(agent).find((one) => one.name === `${name}.jsonl`)!
  return renderTranscript(readTranscript(driverNamed(agent), stream.lines, stream.exit)).join('\n')
}
const exit = { code: 0, signal: null, stderrTail: '' }

describe('a transcript for people', () => {
  it('shows text, tools with input and result, and the outcome', () => {
    expect(rendered('claude', 'tool')).toBe(`session e00434ba-2980-41b7-9747-4bbca1a8ed42 (claude-opus-5-5)

I will write the file.

> Write /sandbox/claude-tool/work/hello.txt
    content: hello from the stub
  | File created successfully at: /sandbox/claude-tool/work/hello.txt (file state is current in your context — no need to Read it back)
  . done

> Bash cat hello.txt && echo "pwd=$PWD" && exit 0
    description: scripted
  | hello from the stubpwd=/sandbox/claude-tool/work
  . done

All done.

\`\`\`json
{
  "status": "goal-complete",
  "summary": "Wrote hello.txt and checked it",
  "completedStepIds": ["step-0"],
  "goalCompleteSummary": "hello.txt exists"
}
\`\`\`

= the turn ended

outcome: ok
tokens:  3900 in, 128 out, 2800 read from and 0 written to the cache, $0.0187`)
  })

  it('shows retries and limits', () => {
    expect(rendered('claude', 'r429x2')).toContain('~ retry 2 after 429 in 1.2 s: rate_limit')
    expect(rendered('claude', 'limitoauth')).toContain('! limit: five_hour, until 2026-11-15T20:49:04.000Z')
    expect(rendered('claude', 'limitoauth')).toContain('outcome: failed, usage_limit, can be tried again')
  })

  it.each(['gemini', 'acp'])('joins the pieces that %s gives its text in', (agent) => {
    expect(rendered(agent, agent === 'acp' ? 'opencode-tool' : 'tool')).toContain(
      '"summary": "Wrote hello.txt and checked it",\n',
    )
  })

  it('keeps lines that are no JSON, and counts the others that say nothing new', () => {
    const lines = ['Welcome!', '{"type":"system","subtype":"hook_started"}']

    expect(renderTranscript(readTranscript(driverNamed('claude'), lines, exit)).slice(0, 3)).toEqual([
      '? Welcome!',
      '',
      '(1 line of the stream without news left out)',
    ])
  })

  it('cuts long results', () => {
    const output = Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n')
    const event = { kind: 'tool' as const, phase: 'end' as const, id: 't', ok: true, output }
    const outcome = { status: 'ok' as const, retryable: false, text: '', usage: noUsage, resumable: false }

    expect(renderTranscript({ events: [event], outcome }, 2).slice(0, 4)).toEqual([
      '  | line 0',
      '  | line 1',
      '  | … 98 more lines',
      '  . done',
    ])
  })

  it('passes nothing on that a terminal would obey', () => {
    const { events, outcome } = readTranscript(
      command('x'),
      ['red \u001B[31mtext\u001B[0m \u001B]0;title\u0007 \u0007\u009B2J'],
      exit,
    )
    const shown = renderTranscript({ events, outcome }).join('\n')

    expect(shown).not.toMatch(/(?!\n)\p{Cc}/u)
    expect(shown).toContain('red text')
  })
})
