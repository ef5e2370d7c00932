import { basename, dirname, join } from 'node:path'
import { findDriver, driverNamed } from '../../agents/drivers/registry.ts'
import { readTranscript } from '../../agents/transcript/transcript.ts'
import type { SprintEvent } from '../../contract/events.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Redact } from '../../contract/redact.ts'
import { exists, realPath } from '../../platform/files/files.ts'
import { lineSplitter } from '../../platform/files/line-splitter.ts'
import { writtenAt } from '../../platform/files/recorded-file.ts'
import { openTail } from '../../platform/files/tail.ts'
import { agentAt } from './watch-events.ts'

type Following = { readonly file: string; readonly read: () => Promise<void>; readonly close: () => Promise<void> }

/** Follows the output of a sprint's agents while they work. Reads only; another process owns the files. */
export function transcriptWatch(sprintDir: string, redact: Redact, show: (event: SprintEvent, at: number) => void) {
  const open = new Map<number, Following>()
  const close = async (iteration: number) => {
    const following = open.get(iteration)
    open.delete(iteration)
    await following?.read()
    await following?.close()
  }
  return {
    async look(progress: Progress): Promise<void> {
      const working = atWork(progress)
      for (const iteration of open.keys()) {
        if (!working.some(({ number }) => number === iteration)) await close(iteration)
      }
      for (const { number: iteration, attempt } of working) {
        const file = transcriptOf(sprintDir, iteration, attempt)
        if (file !== undefined && open.get(iteration)?.file !== file) {
          await close(iteration)
          const how = { agent: agentAt(progress, iteration), redact }
          open.set(iteration, await follow(file, how, (event, at) => show({ ...event, iteration, attempt }, at)))
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
export const atWork = ({ live }: Progress): Progress['live'] =>
  live.filter(({ stage, attempt }) => stage === 'agent' && attempt > 0)

/** The transcript of an attempt, once it has started; before that, the link still points to the previous attempt. */
function transcriptOf(sprintDir: string, iteration: number, attempt: number): string | undefined {
  const link = join(sprintDir, 'transcripts', `iteration-${iteration}.jsonl`)
  if (!exists(link)) return undefined
  const file = realPath(link)
  const [name] = basename(dirname(file)).split('.')
  return name === `${iteration}-${attempt}` ? file : undefined
}

type AgentSaid = Pick<Extract<SprintEvent, { type: 'agent' }>, 'type' | 'event'>

async function follow(
  file: string,
  { agent, redact }: { readonly agent: string; readonly redact: Redact },
  show: (said: AgentSaid, at: number) => void,
): Promise<Following> {
  let at = writtenAt(file)
  const driver = findDriver(agent) ?? driverNamed('command')
  const reading = readTranscript(driver, redact, (event) => show({ type: 'agent', event }, at))
  const lines = lineSplitter(reading.line)
  const tail = await openTail(file, lines.push)
  return {
    file,
    async read() {
      at = exists(file) ? writtenAt(file) : at
      while (await tail.read());
    },
    async close() {
      reading.end({ code: null, signal: null, stderrTail: '' })
      await tail.close()
    },
  }
}
