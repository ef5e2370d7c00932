import { errorCodes, formatPlace, RalphError, errorMessage } from '../contract/errors.ts'
import { findNearestWord } from '../contract/text.ts'
import { packageVersion } from './io/assets.ts'
import { commands } from './commands.ts'
import { formatExitCodes } from './io/exit-code.ts'
import { handleOutputErrors, processIo } from './io/io.ts'
import { describeSystemError } from './io/system-error.ts'

async function runCli(args: readonly string[]): Promise<number> {
  const [name, ...rest] = args
  if (name !== undefined && ['--version', '-V', '-v', 'version'].includes(name)) {
    processIo.print(packageVersion())
    return 0
  }
  if (name === undefined || name === '--help' || name === '-h' || name === 'help') {
    if (name === 'help' && rest[0] !== undefined) return runCli([rest[0], '--help'])
    const { printWrapped } = await import('./io/print-wrapped.ts')
    printWrapped(overviewLines(), processIo)
    return name === undefined ? 1 : 0
  }
  const entry = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!entry) {
    const suggestion = findNearestWord(name, [...Object.keys(commands), '--help', '--version'])
    throw new RalphError('USAGE', `unknown command "${name}"`, {
      hint: suggestion ? `did you mean "ralph ${suggestion}"?` : 'see: ralph --help',
    })
  }
  const found = await entry.load()
  return found.run(rest, { ...processIo, printsJson: rest.includes('--json') })
}

function overviewLines(): string[] {
  const width = Math.max(...Object.keys(commands).map((name) => name.length))
  return [
    'ralph runs a coding agent in a loop, each time with a fresh context, until checks that ralph runs itself confirm that the goal is reached.',
    '',
    'Usage: ralph <command> [options]',
    ...Object.entries(commands).flatMap(([name, { heading, summary }]) => [
      ...(heading === undefined ? [] : ['', `${heading}:`]),
      `  ${name.padEnd(width)}  ${summary}`,
    ]),
    '',
    'Start:  ralph demo                       see it work in ten seconds',
    '        ralph run "Make all tests pass"  run on this project',
    '        ralph <command> --help           show all options of a command',
    '',
    `Exit codes:  ${formatExitCodes()}.`,
  ]
}

async function completeHint(error: unknown): Promise<unknown> {
  if (!(error instanceof RalphError) || !error.hint?.includes('<sprint>')) return error
  const { nameSprintInHint } = await import('./sprint/name-in-hint.ts')
  const [name = '', ...rest] = args
  const command = Object.hasOwn(commands, name) ? await commands[name]?.load() : undefined
  return nameSprintInHint(error, { args: rest, options: command?.about.options ?? {} }, processIo)
}

/** Formats an error on one line: place, code, message, hint. */
function reportCliError(error: unknown): number {
  const known =
    error instanceof RalphError
      ? error
      : (describeSystemError(error) ??
        new RalphError('INTERNAL', errorMessage(error), {
          hint: 'this is a bug in ralph; set RALPH_DEBUG=1 to see the stack',
        }))
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

// Node reports a failed write before or after the command has ended.
handleOutputErrors((error) => {
  const exitCode = reportCliError(new RalphError('FILE_UNWRITABLE', `cannot write the output: ${error.message}`))
  process.exitCode ||= exitCode
})

const args = process.argv.slice(2)
void runCli(args)
  .catch(async (error: unknown) => reportCliError(await completeHint(error)))
  .then((exitCode) => (process.exitCode = exitCode || process.exitCode))
