/** A connection that carries texts in order while it lasts. */
export interface Transport {
  readonly send: (text: string) => void
  /** Bytes that were sent but have not left this process. */
  readonly unsentBytes: () => number
  /** Bytes that have arrived, including those of an incomplete text. */
  readonly receivedBytes: () => number
  /** Reads one text before `onText` is called with the rest. Rejects if the connection closes first. */
  readonly nextText: () => Promise<string>
  readonly onText: (handler: (text: string) => void) => void
  /** Called once with the reason, even if the connection is already closed. */
  readonly onClose: (handler: (reason: string) => void) => void
  readonly close: (reason: string) => void
  /** Shared by both ends of this connection and unknown to all others. */
  readonly secret: Buffer
}

/**
 * Two connected ends in one process, for the machine inside `ralph serve`. Carries the same texts as a network
 * connection.
 */
export function createTransportPair(secret: Buffer): readonly [Transport, Transport] {
  const ends = [createInbound(), createInbound()] as const
  const close = (reason: string) => ends.forEach((end) => end.closed(reason))
  const transport = (mine: Inbound, other: Inbound): Transport => ({
    send: (text) => void setImmediate(() => other.arrived(text)),
    unsentBytes: () => 0,
    receivedBytes: () => 0,
    nextText: mine.nextText,
    onText: mine.onText,
    onClose: mine.onClose,
    close: (reason) => void setImmediate(() => close(reason)),
    secret,
  })
  return [transport(ends[0], ends[1]), transport(ends[1], ends[0])]
}

export type Inbound = ReturnType<typeof createInbound>

/** Buffers arrived texts until a consumer reads them. */
export function createInbound() {
  const waiting: string[] = []
  const closing: ((reason: string) => void)[] = []
  let handler: ((text: string) => void) | undefined
  let why: string | undefined
  const onClose = (listener: (reason: string) => void): void => {
    if (why === undefined) closing.push(listener)
    else listener(why)
  }
  return {
    onClose,
    onText: (added: (text: string) => void): void => {
      handler = added
      waiting.splice(0).forEach(added)
    },
    nextText: () =>
      new Promise<string>((resolve, reject) => {
        const first = waiting.shift()
        if (first !== undefined) return resolve(first)
        onClose((reason) => reject(new Error(reason)))
        handler = (text) => {
          handler = undefined
          resolve(text)
        }
      }),
    arrived: (text: string): void => {
      if (why !== undefined) return
      if (handler) handler(text)
      else waiting.push(text)
    },
    closed: (reason: string): void => {
      if (why !== undefined) return
      why = reason
      for (const listener of closing) listener(reason)
    },
  }
}
