import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { PermissionQuestion } from './permissions.ts'

/** Logs every message, one JSON object per line: `{t, dir, m}`, and our own notes as `{t, bridge, …}`. */
export type WireLog = {
  readonly message: (dir: '->' | '<-', m: AnyMessage) => void
  readonly note: (bridge: 'not-found' | 'refused' | 'agent-exited', reason: string) => void
  /** Ends the turn, because the user has to decide something. */
  readonly question: (question: PermissionQuestion) => void
}

export function createWireLog(write: (line: string) => void, now: () => number): WireLog {
  const started = now()
  const line = (fields: object) => write(`${JSON.stringify({ t: Math.round(now() - started), ...fields })}\n`)
  return {
    message: (dir, m) => line({ dir, m }),
    note: (bridge, reason) => line({ bridge, reason }),
    question: (question) => line({ bridge: 'question', ...question }),
  }
}

/** Wraps a stream so that it logs every message. */
export function logStream(stream: Stream, log: WireLog): Stream {
  const tap = (dir: '->' | '<-') =>
    new TransformStream<AnyMessage, AnyMessage>({
      transform(message, controller) {
        log.message(dir, message)
        controller.enqueue(message)
      },
    })
  const outgoing = tap('->')
  outgoing.readable.pipeTo(stream.writable).catch(() => {})
  return { readable: stream.readable.pipeThrough(tap('<-')), writable: outgoing.writable }
}
