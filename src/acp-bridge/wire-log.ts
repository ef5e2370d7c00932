import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'

/** Where every message is written down, one JSON object per line: `{t, dir, m}`, and our own words as `{t, bridge, …}`. */
export type WireLog = {
  readonly message: (dir: '->' | '<-', m: AnyMessage) => void
  readonly note: (bridge: 'not-found' | 'refused' | 'unanswered' | 'agent-exited', reason: string) => void
}

export function wireLog(write: (line: string) => void, now: () => number): WireLog {
  const started = now()
  const line = (fields: object) => write(`${JSON.stringify({ t: Math.round(now() - started), ...fields })}\n`)
  return {
    message: (dir, m) => line({ dir, m }),
    note: (bridge, reason) => line({ bridge, reason }),
  }
}

/** The same stream, with every message written down as it passes. */
export function logged(stream: Stream, log: WireLog): Stream {
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
