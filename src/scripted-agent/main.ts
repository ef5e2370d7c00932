#!/usr/bin/env node
import { parseArgs } from 'node:util'
import { errorCodes, formatPlace, RalphError, errorMessage } from '../contract/errors.ts'
import { isErrno, readTextIfExists } from '../platform/files/files.ts'
import { play } from './play.ts'
import { parseScenario } from './scenario.ts'
import { killRunning } from './shell.ts'
import { chooseTurn, finalMessage } from './turn.ts'

const signals = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const
const brokenPipe = 141

/** Plays Claude Code from a scenario file: prompt on stdin, stream-json on stdout, project in the working folder. */
async function runScenario(): Promise<number> {
  const file = scenarioFile(process.argv.slice(2))
  const source = await readTextIfExists(file)
  if (source === undefined) throw new RalphError('FILE_UNREADABLE', 'no such file', { place: { file } })
  const scenario = parseScenario(source, file)
  const prompt = await readPrompt()
  const turn = chooseTurn(scenario, prompt)
  return play({
    turn,
    final: finalMessage(turn, prompt),
    pace: paceFromEnv() ?? turn.pace ?? scenario.pace,
    cwd: process.cwd(),
    write: writeLine,
  })
}

function scenarioFile(args: readonly string[]): string {
  const hint = 'usage: scripted-agent --scenario FILE <PROMPT'
  try {
    const { scenario } = parseArgs({ args: [...args], options: { scenario: { type: 'string' } } }).values
    if (scenario !== undefined) return scenario
  } catch (cause) {
    throw new RalphError('USAGE', errorMessage(cause), { hint, cause })
  }
  throw new RalphError('USAGE', '--scenario is missing', { hint })
}

async function readPrompt(): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(Buffer.from(chunk))
  const prompt = Buffer.concat(chunks).toString()
  if (prompt.trim() === '') throw new RalphError('USAGE', 'there is no prompt on stdin')
  return prompt
}

function paceFromEnv(): number | undefined {
  const text = process.env['RALPH_SCRIPTED_PACE']
  if (text === undefined || text === '') return undefined
  const pace = Number(text)
  if (pace >= 0 && Number.isFinite(pace)) return pace
  throw new RalphError('USAGE', `RALPH_SCRIPTED_PACE is "${text}"`, { hint: 'give milliseconds, 0 for no pause' })
}

/** Resolves when the line has left the process, so that an exit loses nothing; never resolves after an error. */
const writeLine = (line: string): Promise<void> =>
  new Promise((resolve) => {
    process.stdout.write(`${line}\n`, (error) => (error ? undefined : resolve()))
  })

function describeScenarioError(error: unknown): { readonly line: string; readonly exitCode: number } {
  if (!(error instanceof RalphError)) return { line: `INTERNAL: ${String(error)}`, exitCode: 1 }
  const where = error.place ? ` ${formatPlace(error.place)}` : ''
  const todo = error.hint ? `; ${error.hint}` : ''
  return { line: `${error.code}${where}: ${error.message}${todo}`, exitCode: errorCodes[error.code].exit }
}

function exitWith(exitCode: number): never {
  killRunning()
  process.exit(exitCode)
}

function reportFailure(error: unknown): void {
  const { line, exitCode } = describeScenarioError(error)
  process.stderr.write(`scripted-agent: ${line.replaceAll('\n', ' ')}\n`, () => exitWith(exitCode))
}

for (const [signal, exitCode] of Object.entries(signals)) process.on(signal, () => exitWith(exitCode))
process.stdout.on('error', (error) => (isErrno(error, 'EPIPE') ? exitWith(brokenPipe) : reportFailure(error)))
process.stderr.on('error', () => {})

try {
  exitWith(await runScenario())
} catch (error) {
  reportFailure(error)
}
