import { describe, expect, it } from 'vitest'
import { recorded } from '../../../test/fixtures/transcripts/recorded.ts'
import { createRedactor } from '../../contract/secrets/redact.ts'
import { commandDriver } from '../drivers/command.ts'
import type { Driver } from '../drivers/driver.ts'
import type { Exit } from '../readers/outcome.ts'
import { getDriver } from '../drivers/registry.ts'
import { transcriptPrinter } from '../../words/transcript-lines.ts'
import { readTranscript } from './transcript.ts'

const exit = { code: 0, signal: null, stderrTail: '' }

function shown(driver: Driver, stream: readonly string[], how: Exit = exit): string[] {
  const lines: string[] = []
  const printer = transcriptPrinter((line) => void lines.push(line))
  const transcript = readTranscript(driver, createRedactor(), printer.event)
  for (const line of stream) transcript.line(line)
  printer.end(transcript.end(how))
  return lines
}

const rendered = (agent: string, name: string) => {
  const stream = recorded(agent).find((one) => one.name === `${name}.jsonl`)!
  return shown(getDriver(agent), stream.lines, stream.exit).join('\n')
}

describe('a readable transcript', () => {
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

  it.each(['gemini', 'acp'])('joins the chunks of text that %s prints', (agent) => {
    expect(rendered(agent, agent === 'acp' ? 'opencode-tool' : 'tool')).toContain(
      '"summary": "Wrote hello.txt and checked it",\n',
    )
  })

  it('keeps lines that are not JSON, and counts other lines without an event', () => {
    const lines = ['Welcome!', '{"type":"system","subtype":"hook_started"}']

    expect(shown(getDriver('claude'), lines).slice(0, 3)).toEqual(['? Welcome!', '', '(1 line of the stream left out)'])
  })

  it('shows plain text as it was printed', () => {
    expect(shown(commandDriver('x'), ['one', 'two', 'three']).slice(0, 5)).toEqual(['', 'one', 'two', 'three', ''])
  })

  it('shortens long results', () => {
    const lines: string[] = []
    const output = `${'x'.repeat(3000)}\n${Array.from({ length: 100 }, (_, n) => `line ${n}`).join('\n')}`
    const printer = transcriptPrinter((line) => void lines.push(line), 2)
    printer.event({ kind: 'tool', phase: 'end', id: 't', ok: true, output })

    expect(lines).toEqual([
      `  | ${'x'.repeat(2000)}… (1000 more characters)`,
      '  | line 0',
      '  | … 99 more lines',
      '  . done',
    ])
  })

  it('contains nothing that would control a terminal', () => {
    const text = shown(commandDriver('x'), ['red \u001B[31mtext\u001B[0m \u001B]0;title\u0007 \u0007\u009B2J']).join(
      '\n',
    )

    expect(text).not.toMatch(/(?!\n)\p{Cc}/u)
    expect(text).toContain('red text')
  })
})
