import { constants } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import type { Exit } from '../../agents/readers/outcome.ts'
import { getDriver } from '../../agents/drivers/registry.ts'
import { readTranscript } from '../../agents/transcript/transcript.ts'
import { transcriptPrinter } from '../../words/transcript-lines.ts'
import { RalphError } from '../../contract/errors.ts'
import { findNearestWord } from '../../contract/text.ts'
import { attemptFiles, readEndReason, readExitCode } from '../../platform/processes/attempt-folder.ts'
import { stateRoot } from '../../platform/files/state-folder.ts'
import { attemptIteration, readPackedIteration } from '../../platform/processes/attempt-pack.ts'
import { packedExit } from '../report/attempts.ts'
import { exists, isFolder, readTextSyncIfExists, realPath } from '../../platform/files/files.ts'
import { readFileLines, readModifiedAt } from '../../platform/files/line-reader.ts'
import { defineCommand } from '../io/command.ts'
import { encodeOutcome } from '../io/outcome-json.ts'
import { createProjectRedactor } from '../../storage/accounts/secrets.ts'

export const transcript = defineCommand({
  name: 'transcript',
  summary: 'Show what an agent said and did, from a recorded transcript',
  arguments: ['<file>'],
  options: {
    agent: {
      type: 'string',
      short: 'a',
      value: 'NAME',
      description: 'the agent that printed it; default: detected from the content',
    },
    exit: {
      type: 'string',
      value: 'CODE|SIGNAL',
      description: 'exit code or signal of the agent; default: as recorded beside the file, else 0',
    },
    json: { type: 'boolean', description: 'print only the outcome, as one JSON object' },
  },
  details: `Shows text, tool calls with input and result, retries and limits as readable turns, followed by the outcome that Ralph derives from them.`,
  examples: [
    'ralph transcript .claude/sprints/2026-11-15_auth/transcripts/iteration-3.jsonl',
    'ralph transcript recorded.jsonl --agent codex --exit SIGTERM --json',
  ],
  async run({ values, positionals: [fileArgument = ''] }, io) {
    const driver = getDriver(values.agent ?? 'command')
    const exit = values.exit === undefined ? undefined : parseExit(values.exit)
    const file = assertReadableFile(resolve(io.cwd, fileArgument), fileArgument)
    const recordedExit = await readRecordedExit(file)
    // Shown only once something in the file comes from an agent.
    const heldLines: string[] = []
    const printer = transcriptPrinter((line) => void heldLines.push(line))
    let isTranscript = values.agent !== undefined || isRecorded(file)
    const reading = readTranscript(driver, createProjectRedactor(io.cwd, io.env)(), (event) => {
      isTranscript ||= event.kind !== 'raw' && event.kind !== 'text'
      if (values.json !== true) printer.event(event)
      if (isTranscript) for (const line of heldLines.splice(0)) io.print(line)
    })
    await readFileLines(file, reading.line)
    if (!isTranscript) throw notATranscript(fileArgument)
    const outcome = reading.end({ ...recordedExit, ...exit })
    if (values.json === true) io.print(JSON.stringify(encodeOutcome(outcome)))
    else {
      printer.end(outcome)
      for (const line of heldLines) io.print(line)
    }
    return 0
  },
})

/** The output of an attempt, which may be plain text. */
const isRecorded = (file: string): boolean => basename(file) === attemptFiles.stdout

const notATranscript = (shownPath: string): RalphError =>
  new RalphError('FILE_UNREADABLE', 'this is not the transcript of an agent', {
    place: { file: shownPath },
    hint: 'transcripts are in the folder transcripts of a sprint; name the agent with --agent to show it anyway',
  })

function assertReadableFile(path: string, shownPath: string): string {
  const place = { file: shownPath }
  if (!exists(path)) throw new RalphError('FILE_NOT_FOUND', 'file not found', { place })
  if (isFolder(path)) throw new RalphError('FILE_UNREADABLE', 'this is a folder, not a file', { place })
  return realPath(path)
}

/** How the agent exited, if the attempt's folder or its pack has recorded it. */
async function readRecordedExit(file: string): Promise<Exit> {
  const folder = dirname(file)
  const at = readModifiedAt(file)
  const name = basename(file, '.jsonl')
  const iteration = folder.startsWith(stateRoot()) ? attemptIteration(name) : undefined
  const packed = iteration === undefined ? [] : await readPackedIteration(dirname(folder), iteration)
  const attempt = packed.find((one) => one.name === name)
  if (attempt) return packedExit(attempt)
  if (file !== join(folder, attemptFiles.stdout)) return { code: 0, signal: null, stderrTail: '', at }
  const ended = readEndReason(folder)
  const stderrTail = (readTextSyncIfExists(join(folder, attemptFiles.stderr)) ?? '').slice(-2000)
  return { code: readExitCode(folder), signal: null, stderrTail, at, ...(ended && { ended }) }
}

function parseExit(text: string): Pick<Exit, 'code' | 'signal'> {
  if (/^\d{1,3}$/.test(text) && Number(text) < 256) return { code: Number(text), signal: null }
  const names = Object.keys(constants.signals)
  const signal = names.find((name) => name === text || name === `SIG${text}`)
  if (signal !== undefined) return { code: null, signal }
  const suggestion = findNearestWord(text, names)
  throw new RalphError('USAGE', `--exit expects an exit code from 0 to 255 or a signal, not "${text}"`, {
    hint: suggestion ? `did you mean ${suggestion}?` : 'such as 1 or SIGTERM',
  })
}
