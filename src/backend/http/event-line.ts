export interface EventLine {
  readonly stream: ReadableStream<Uint8Array>
  readonly send: (bytes: Uint8Array) => void
  /** Bytes that were sent and not yet taken. */
  readonly waiting: () => number
  /** Bytes that were taken. */
  readonly taken: () => number
  /** Resolves when all that was sent is taken, or the line has ended. */
  readonly drained: () => Promise<void>
  /** What was sent may still be read. */
  readonly end: () => void
}

/** The bytes of one stream of events on their way to whoever reads them. */
export function openEventLine(ended: () => void): EventLine {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined
  let sent = 0
  let wake = nothing
  const forget = () => {
    controller = undefined
    wake()
    ended()
  }
  const waiting = () => -(controller?.desiredSize ?? 0)
  const stream = new ReadableStream<Uint8Array>(
    // Without a mark it is asked for more only when somebody reads and nothing is left.
    { start: (given) => void (controller = given), pull: () => wake(), cancel: forget },
    new ByteLengthQueuingStrategy({ highWaterMark: 0 }),
  )
  return {
    stream,
    waiting,
    taken: () => sent - waiting(),
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

const nothing = () => {}
