#!/usr/bin/env node
import { createRequire } from 'node:module'
import { errorCodes, formatPlace, RalphError } from '../contract/errors.ts'
import { nearest } from '../contract/nearest.ts'
import type { Command } from './command.ts'
import { processIo } from './io.ts'

type Entry = { readonly summary: string; readonly load: () => Promise<Command> }

/** Every command. Each is loaded only when it is called, so that the others cost nothing. */
const commands: Readonly<Record<string, Entry>> = {
  init: {
    summary: 'Make a sprint folder with a commented SPRINT.yaml',
    load: async () => (await import('./commands/init.ts')).init,
  },
  compile: {
    summary: 'Check SPRINT.yaml and its workflow, write PROGRESS.yaml',
    load: async () => (await import('./commands/compile.ts')).compileCommand,
  },
  validate: {
    summary: 'Check a workflow file by itself',
    load: async () => (await import('./commands/validate.ts')).validate,
  },
  run: { summary: 'Run a sprint until its goal is reached', load: async () => (await import('./commands/run.ts')).run },
  status: { summary: 'Show where sprints stand', load: async () => (await import('./commands/status.ts')).status },
  watch: {
    summary: 'Watch a sprint that runs in another terminal',
    load: async () => (await import('./commands/watch.ts')).watch,
  },
  logs: {
    summary: 'Show what the agent said and did, iteration by iteration',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  report: {
    summary: 'Write what a sprint did as one HTML page, or as Markdown',
    load: async () => (await import('./commands/report.ts')).report,
  },
  answer: {
    summary: 'Answer the question a sprint waits for',
    load: async () => (await import('./commands/answer.ts')).answer,
  },
  resume: {
    summary: 'Go on with a sprint (the same as run)',
    load: async () => (await import('./commands/run.ts')).resume,
  },
  pause: { summary: 'Pause a running sprint', load: async () => (await import('./commands/stop.ts')).pause },
  stop: { summary: 'Stop a running sprint', load: async () => (await import('./commands/stop.ts')).stop },
  tell: { summary: 'Tell the agent something', load: async () => (await import('./commands/tell.ts')).tell },
  diff: {
    summary: 'Show what an iteration, or the whole sprint, has changed',
    load: async () => (await import('./commands/diff.ts')).diff,
  },
  restore: {
    summary: 'Put the files back to what they were after an iteration',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  prompt: {
    summary: 'Print the prompt that would be sent next',
    load: async () => (await import('./commands/prompt.ts')).prompt,
  },
  agents: {
    summary: 'Show which agents are installed and tested, and try one',
    load: async () => (await import('./commands/agents.ts')).agents,
  },
  transcript: {
    summary: 'Show what an agent said and did, from its recorded output',
    load: async () => (await import('./commands/transcript.ts')).transcript,
  },
  mcp: {
    summary: 'Offer sprints to an assistant as an MCP server, on stdin and stdout',
    load: async () => (await import('./commands/mcp.ts')).mcp,
  },
  completion: {
    summary: 'Print the completion script of a shell',
    load: async () => (await import('./commands/completion.ts')).completionFor(commands),
  },
  demo: {
    summary: 'Watch a sprint on a sample project, offline, without an agent or a key',
    load: async () => (await import('./commands/demo.ts')).demo,
  },
}

async function main(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  if (name === '--version' || name === '-V') {
    processIo.print(version())
    return 0
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    if (name === 'help' && rest[0] !== undefined) return main([rest[0], '--help'])
    processIo.print(overview())
    return name === undefined ? 1 : 0
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!entry) {
    const meant = nearest(name, Object.keys(commands))
    throw new RalphError('USAGE', `there is no command "${name}"`, {
      hint: meant ? `did you mean "ralph ${meant}"?` : 'see: ralph --help',
    })
  }
  const found = await entry.load()
  return found.run(rest, processIo)
}

function version(): string {
  const { version: text }: { version: string } = createRequire(import.meta.url)('../../package.json')
  return text
}

function overview(): string {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  return [
    'ralph runs a coding agent again and again, each time with a fresh context, until checks that ralph itself runs say that',
    'the goal is reached.',
    '',
    'Usage: ralph <command> [options]',
    '',
    ...Object.entries(commands).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`),
    '',
    'Start:  ralph demo                      see it work in ten seconds',
    '        ralph run --goal "…"            run on this project',
    '        ralph <command> --help          all options of a command',
    '',
    'Exit codes: 0 done or paused on request, 1 failed or invalid input, 2 a human is needed, 3 a limit was reached, 130 interrupted.',
  ].join('\n')
}

/** An error on one line: place, code, message, what to do. */
function report(error: unknown): number {
  const known =
    error instanceof RalphError
      ? error
      : new RalphError('INTERNAL', messageOf(error), { hint: 'this is a bug in ralph; RALPH_DEBUG=1 shows where' })
  if (process.argv.includes('--json')) {
    const { code, message, place, hint } = known
    processIo.printError(JSON.stringify({ error: { code, message, place, hint } }))
  } else {
    const place = known.place ? `${formatPlace(known.place)}  ` : ''
    processIo.printError(`${place}error ${known.code}  ${known.message}${known.hint ? ` (${known.hint})` : ''}`)
  }
  if (process.env['RALPH_DEBUG'] && error instanceof Error) processIo.printError(error.stack ?? '')
  return errorCodes[known.code].exit
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

// A reader that goes away (`ralph status | head`) is no error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

process.exitCode = await main(process.argv.slice(2)).catch(report)
