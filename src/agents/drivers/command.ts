import { RalphError } from '../../contract/errors.ts'
import { AgentEvent } from '../../contract/events.ts'
import { readClaude } from './claude.ts'
import { codex } from './codex.ts'
import { classifyStatus, toOutcome } from '../readers/outcome.ts'
import { readCopilot } from '../readers/copilot-reader.ts'
import type { Driver, Invocation } from './driver.ts'
import type { Reader } from '../readers/reader.ts'
import { gemini } from './gemini.ts'
import { readGoose } from '../readers/goose-reader.ts'
import { parseObject } from '../readers/json.ts'
import { opencode } from './opencode.ts'
import { readPi } from '../readers/pi-reader.ts'
import { createReaderState, type ReaderState } from '../readers/reader-state.ts'
import { resolveProgram, splitCommandLine } from './command-line.ts'

/**
 * Any program: `command:./my-agent --flag`. It reads the prompt from stdin; for programs that do not, `{prompt}` stands for the
 * prompt and `{prompt-file}` for the path of a file with it. Its output is the answer: text, JSON lines of a known agent, or
 * our own events, one per line.
 */
export function commandDriver(line: string): Driver {
  const words = splitCommandLine(line)
  const [program = ''] = words
  return {
    name: line === '' ? 'command' : `command:${line}`,
    program,
    env: [],
    command: ({ cwd, folder, project = cwd }) => {
      if (program === '') throw new RalphError('USAGE', 'which program?', { hint: 'write "command:./my-agent --flag"' })
      const file = resolveProgram(project, program)
      const args = words.slice(1).map((word) => word.replaceAll('{prompt-file}', `${folder}/prompt.md`))
      return args.some((word) => word.includes('{prompt}')) ? passPromptAsArgument([file, ...args]) : { file, args }
    },
    read: readCommand,
  }
}

/** The prompt is available on stdin only, so a shell reads it from there. */
function passPromptAsArgument(words: readonly string[]): Invocation {
  const quoted = words.map(
    (word) => `'${word.replaceAll("'", String.raw`'\''`).replaceAll('{prompt}', `'"$prompt"'`)}'`,
  )
  return { file: '/bin/sh', args: ['-c', `prompt=$(cat); exec ${quoted.join(' ')} </dev/null`] }
}

/** The streams that we can read, no matter which program prints them. */
const knownReaders = [readClaude, codex.read, gemini.read, opencode.read, readPi, readCopilot, readGoose]

function readCommand(): Reader {
  const state = createReaderState()
  const printed = createTailBuffer(4 * 1024 * 1024)
  let readers = knownReaders.map((read) => read())
  let speaker: Reader | undefined

  /** The first reader that understands a line reads the rest. Do not try them on a huge line. */
  const understand = (line: string): readonly AgentEvent[] => {
    if (!speaker && line.length > 1024 * 1024) return [{ kind: 'raw', line }]
    for (const reader of readers) {
      const events = reader.parse(line)
      if (events.every(({ kind }) => kind === 'raw')) continue
      speaker = reader
      readers = [reader]
      return events
    }
    // A report on a line of its own, in the middle of plain text, is JSON too.
    if (!speaker) printed.add(`${line}\n`)
    return [{ kind: 'raw', line }]
  }
  return {
    parse: (line) => {
      const entry = parseObject(line)
      if (!entry) {
        printed.add(`${line}\n`)
        return [{ kind: 'text', text: `${line}\n` }]
      }
      const own = typeof entry['kind'] === 'string' ? AgentEvent.safeParse(entry) : undefined
      if (!own?.success) return understand(line)
      applyOwnEvent(state, own.data)
      return [own.data]
    },
    finish: (exit) => {
      // The command line has no way to resume a session.
      if (speaker) return { ...speaker.finish(exit), resumable: false }
      if (state.understoodAny) return { ...toOutcome(state, exit), resumable: false }
      const text = printed.text()
      const answered = exit.code === 0 && text.trim() !== ''
      return toOutcome({ ...state, text, ...(answered && { terminal: { ok: true } }) }, exit)
    },
  }
}

/** Applies one of our own events to the state, like an event of a known agent. */
function applyOwnEvent(state: ReaderState, event: AgentEvent): void {
  state.understoodAny = true
  switch (event.kind) {
    case 'session':
      state.sessionId = event.id
      return
    case 'text':
      state.text = event.text
      state.trouble = undefined
      return
    case 'usage':
      state.usage = event.usage
      return
    case 'limit':
      state.resetsAt = event.resetsAt
      state.trouble = { class: 'usage_limit', reason: event.reason ?? 'the usage limit was reached' }
      return
    case 'retry':
      state.trouble = {
        class: classifyStatus(event.status ?? 408),
        reason: event.reason ?? 'the model could not be reached',
      }
      return
    case 'terminal': {
      const failure = state.trouble ?? { class: 'unknown' as const, reason: 'the turn failed' }
      state.terminal = event.ok
        ? { ok: true }
        : { ok: false, ...failure, ...(event.reason && { reason: event.reason }) }
      return
    }
    case 'tool':
    case 'raw':
  }
}

/** Keeps the end of a text of any length. */
function createTailBuffer(most: number) {
  const parts: string[] = []
  let size = 0
  return {
    add: (part: string) => {
      parts.push(part)
      size += part.length
      while (size > most && parts.length > 1) size -= parts.shift()?.length ?? 0
    },
    text: () => parts.join(''),
  }
}
