/** A connection that carries texts in order, as long as it lasts. */
export interface Transport {
  readonly send: (text: string) => void
  /** What was sent and has not left this process. */
  readonly unsentBytes: () => number
  /** What has arrived, also of a text that is not complete yet. */
  readonly receivedBytes: () => number
  /** One text, before `onText` is called for the rest. Rejects if the connection closes first. */
  readonly nextText: () => Promise<string>
  readonly onText: (handler: (text: string) => void) => void
  /** Called once, with why, also if that has happened already. */
  readonly onClose: (handler: (reason: string) => void) => void
  readonly close: (reason: string) => void
  /** Known to both ends of this connection and to nobody else. */
  readonly secret: Buffer
}

/** Two ends in one process: the machine inside `ralph serve`. The texts are the same as on a wire. */
export function transportPair(secret: Buffer): readonly [Transport, Transport] {
  const ends = [inbound(), inbound()] as const
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

export type Inbound = ReturnType<typeof inbound>

/** What arrives waits until somebody wants it. */
export function inbound() {
  const waiting: string[] = []
  const closing: ((reason: string) => void)[] = []
  let handler: ((text: string) => void) | undefined
  let why: string | undefined
  const onClose = (tell: (reason: string) => void): void => {
    if (why === undefined) closing.push(tell)
    else tell(why)
  }
  return {
    onClose,
    onText: (given: (text: string) => void): void => {
      handler = given
      waiting.splice(0).forEach(given)
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
      for (const tell of closing) tell(reason)
    },
  }
}
