import { randomUUID } from 'node:crypto'
import { errorCodes, RalphError, type ErrorCode } from '../contract/errors.ts'
import { Reply } from '../contract/fleet/machine-messages.ts'
import { lineTypes } from './frame.ts'
import type { ReceivedMessage } from './session.ts'

type PendingCall = {
  readonly resolve: (result: unknown) => void
  readonly reject: (error: RalphError) => void
  readonly timer: NodeJS.Timeout
}

/** Calls that await a reply. */
export function createCallRegistry() {
  const waiting = new Map<string, PendingCall>()
  const take = (id: string): PendingCall | undefined => {
    const found = waiting.get(id)
    waiting.delete(id)
    clearTimeout(found?.timer)
    return found
  }
  return {
    add: (deadlineMs: number, send: (id: string) => void) =>
      new Promise<unknown>((resolve, reject) => {
        const id = randomUUID()
        const late = () => take(id)?.reject(unreachableError(`no answer within ${deadlineMs} ms`))
        const timer = setTimeout(late, deadlineMs)
        timer.unref()
        waiting.set(id, { resolve, reject, timer })
        send(id)
      }),
    settle: ({ id, type, body }: ReceivedMessage) => {
      const found = take(id)
      if (type === lineTypes.pong) return found?.resolve(undefined)
      const reply = Reply.safeParse(body)
      if (!reply.success) return found?.reject(unreachableError('the reply is malformed'))
      if (reply.data.success) return found?.resolve(reply.data.result)
      return found?.reject(toReplyError(reply.data))
    },
    end: (reason: string) => {
      for (const id of waiting.keys()) take(id)?.reject(unreachableError(reason))
    },
  }
}

/** Answers a request and returns the reply in wire format, including failures. */
export async function createReply(
  request: ReceivedMessage,
  answer: (request: ReceivedMessage) => Promise<unknown>,
): Promise<Reply> {
  const about = { to: request.id, type: request.type }
  try {
    return { success: true, ...about, result: await answer(request) }
  } catch (error) {
    return createFailureReply(about, error)
  }
}

/** Only messages of `RalphError` leave the process; other errors may contain internals. */
export function createFailureReply(about: Pick<Reply, 'to' | 'type'>, error: unknown): Reply {
  const known = error instanceof RalphError
  const message = known ? error.message : 'internal error on the other side; see its log'
  return { success: false, ...about, code: known ? error.code : 'INTERNAL', message }
}

/** Turns a failed reply back into the error that the other side threw. */
function toReplyError({ code, message }: Extract<Reply, { success: false }>): RalphError {
  const known = isErrorCode(code) ? code : 'INTERNAL'
  return new RalphError(known, message)
}

const isErrorCode = (code: string): code is ErrorCode => Object.hasOwn(errorCodes, code)

export const unreachableError = (why: string): RalphError =>
  new RalphError('MACHINE_UNREACHABLE', `the other side is unreachable: ${why}`, {
    hint: 'it is safe to retry the request',
  })
