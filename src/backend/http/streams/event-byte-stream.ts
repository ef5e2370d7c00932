export interface EventByteStream {
  readonly stream: ReadableStream<Uint8Array>
  readonly send: (bytes: Uint8Array) => void
  /** Bytes sent but not yet read. */
  readonly unreadBytes: () => number
  /** Bytes read so far. */
  readonly readBytes: () => number
  /** Resolves once everything sent was read, or the stream has ended. */
  readonly drained: () => Promise<void>
  /** Ends the stream; bytes already sent can still be read. */
  readonly end: () => void
}

/** The byte stream of one event stream, with its backpressure. */
export function openEventByteStream(ended: () => void): EventByteStream {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let sent = 0
  let wake = noop
  const forget = () => {
    controller = undefined
    wake()
    ended()
  }
  const waiting = () => -(controller?.desiredSize ?? 0)
  const stream = new ReadableStream<Uint8Array>(
    // With a high-water mark of 0, pull is called only when a reader waits and the queue is empty.
    { start: (created) => void (controller = created), pull: () => wake(), cancel: forget },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
  return {
    stream,
    unreadBytes: waiting,
    readBytes: () => sent - waiting(),
    send: (bytes) => {
      sent += bytes.length
      controller?.enqueue(bytes)
    },
    drained: async () => {
      if (controller && waiting() > 0) await new Promise<void>((resolve) => (wake = resolve))
    },
    end: () => {
      const open = controller
      forget()
      open?.close()
    },
  }
}

const noop = () => {}
