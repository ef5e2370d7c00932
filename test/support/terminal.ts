import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { onTestFinished } from 'vitest'
import { ralphProgram } from './paths.ts'
import { waitUntil, type TestSprint } from './sprint.ts'

const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** `ralph` in a real terminal (a pty, by `script`), in the project of a sprint: its screen, and keys typed into it. */
export function inTerminal(sprint: TestSprint, args: readonly string[], { columns = 100, rows = 30 } = {}) {
  const command = `stty cols ${columns} rows ${rows}; exec ${[process.execPath, ralphProgram, ...args].map(quoted).join(' ')}`
  const child = spawn('script', ['--quiet', '--flush', '--return', '--command', command, '/dev/null'], {
    cwd: sprint.at(),
    env: {
      PATH: [sprint.at('../bin'), dirname(process.execPath), process.env['PATH'] ?? ''].join(':'),
      HOME: sprint.at('../home'),
      TMPDIR: sprint.at('../tmp'),
      SHELL: '/bin/sh',
      TERM: 'xterm-256color',
      LANG: 'C.UTF-8',
      IS_SANDBOX: '1',
      RALPH_SCRIPTED_PACE: '0',
      NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] ?? '',
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  let raw = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (raw += text))
  const shown = () => stripVTControlCharacters(raw).replaceAll('\r', '')
  const ended = once(child, 'close').then(() => child.exitCode)
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  let seenUpTo = 0
  return {
    /** Waits until this text is on the terminal, after the text that was awaited before. */
    async sees(text: string): Promise<void> {
      await waitUntil(`"${text}" on the terminal`, () => shown().includes(text, seenUpTo))
      seenUpTo = shown().indexOf(text, seenUpTo) + text.length
    },
    type: (keys: string) => void child.stdin.write(keys),
    shown,
    /** Includes everything that moves the cursor. */
    raw: () => raw,
    ended,
  }
}
