import { basename, dirname, join } from 'node:path'
import { findDriver, getDriver } from '../../agents/drivers/registry.ts'
import { readTranscript } from '../../agents/transcript/transcript.ts'
import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Redact } from '../../contract/redact.ts'
import { exists, realPath } from '../../platform/files/files.ts'
import { createLineSplitter } from '../../platform/files/line-splitter.ts'
import { readModifiedAt } from '../../platform/files/line-reader.ts'
import { openTail } from '../../platform/files/tail.ts'
import { findIterationAgent } from './watch-events.ts'

type FollowedTranscript = {
  readonly file: string
  readonly read: () => Promise<void>
  readonly close: () => Promise<void>
}

/** Follows the output of a sprint's agents while they work. Reads only; another process owns the files. */
export function createTranscriptWatch(
  sprintDir: string,
  redact: Redact,
  show: (event: SprintEvent, at: number) => void,
) {
  const open = new Map<number, FollowedTranscript>()
  const close = async (iteration: number) => {
    const following = open.get(iteration)
    open.delete(iteration)
    await following?.read()
    await following?.close()
  }
  return {
    async look(progress: Progress): Promise<void> {
      const working = runningAttempts(progress)
      for (const iteration of open.keys()) {
        if (!working.some(({ number }) => number === iteration)) await close(iteration)
      }
      for (const { number: iteration, attempt } of working) {
        const file = findAttemptTranscript(sprintDir, iteration, attempt)
        if (file !== undefined && open.get(iteration)?.file !== file) {
          await close(iteration)
          const how = { agent: findIterationAgent(progress, iteration), redact }
          open.set(
            iteration,
            await followTranscript(file, how, (event, at) => show({ ...event, iteration, attempt }, at)),
          )
        }
        await open.get(iteration)?.read()
      }
    },
    async close(): Promise<void> {
      for (const iteration of open.keys()) await close(iteration)
    },
  }
}

/** Attempts whose agent is running. */
export const runningAttempts = ({ live }: Progress): Progress['live'] =>
  live.filter(({ stage, attempt }) => stage === 'agent' && attempt > 0)

/** The transcript of an attempt, once it has started; before that, the link still points to the previous attempt. */
function findAttemptTranscript(sprintDir: string, iteration: number, attempt: number): string | undefined {
  const link = join(sprintDir, 'transcripts', `iteration-${iteration}.jsonl`)
  if (!exists(link)) return undefined
  const file = realPath(link)
  const [name] = basename(dirname(file)).split('.')
  return name === `${iteration}-${attempt}` ? file : undefined
}

type OnAgentEvent = Pick<Extract<SprintEvent, { type: 'agent' }>, 'type' | 'event'>

async function followTranscript(
  file: string,
  { agent, redact }: { readonly agent: string; readonly redact: Redact },
  show: (said: OnAgentEvent, at: number) => void,
): Promise<FollowedTranscript> {
  let at = readModifiedAt(file)
  const driver = findDriver(agent) ?? getDriver('command')
  const reading = readTranscript(driver, redact, (event) => show({ type: 'agent', event }, at))
  const lines = createLineSplitter(reading.line)
  const tail = await openTail(file, lines.push)
  return {
    file,
    async read() {
      at = exists(file) ? readModifiedAt(file) : at
      while (await tail.read());
    },
    async close() {
      reading.end({ code: null, signal: null, stderrTail: '' })
      await tail.close()
    },
  }
}
