import type { Fact } from './fact.ts'
import { createIllegalFact, replaceLive } from './live-iteration.ts'
import { emitEvent, type Decision, type Order } from './order.ts'
import { setInbox, type Sprint } from './sprint.ts'

type UserSaid = Omit<Extract<Extract<Order, { type: 'tell' }>['event'], { type: 'user-said' }>, 'type' | 'iteration'>

/** What a user says stands in the transcript, beside what the agent says. A terminal, where `by` is absent, shows it itself. */
export const emitUserSaid = (sprint: Sprint, { how, text, by }: UserSaid): Order[] =>
  by === undefined
    ? []
    : [
        emitEvent({
          type: 'user-said',
          iteration: sprint.live.at(-1)?.number ?? sprint.stats.currentIteration,
          how,
          text,
          by,
        }),
      ]

/** Adds a message to the next prompt; with `now`, ends the attempt and starts a new one with the message. */
export function onUserMessage(sprint: Sprint, { at, text, now, by }: Extract<Fact, { type: 'told' }>): Decision {
  const message = { text, at, ...(by !== undefined && { by }) }
  const updated = setInbox(sprint, { messages: [...(sprint.inbox.messages ?? []), message] })
  const working = updated.live.filter(({ stage }) => stage === 'agent')
  if (!now || working.length === 0 || updated.status !== 'in-progress')
    return { sprint: updated, orders: emitUserSaid(sprint, { how: 'message', text, by }) }
  const restarted = working.reduce((result, live) => replaceLive(result, { ...live, retelling: true }), updated)
  return {
    sprint: restarted,
    orders: [...emitUserSaid(sprint, { how: 'steer', text, by }), { type: 'abort', what: 'attempts' }],
  }
}

/** Refuses a message that a prompt already contains: the agent has read it. */
export function onMessageWithdrawn(sprint: Sprint, fact: Extract<Fact, { type: 'message-withdrawn' }>): Decision {
  const { messages = [] } = sprint.inbox
  const found = messages.find(({ at }) => at === fact.messageAt)
  const prompted = sprint.live.some(({ promptedAt = 0 }) => promptedAt >= fact.messageAt)
  if (!found || prompted) throw createIllegalFact(sprint, fact, 'the agent has that message already')
  const kept = messages.filter((message) => message !== found)
  return {
    sprint: setInbox(sprint, { messages: kept.length === 0 ? undefined : kept }),
    orders: emitUserSaid(sprint, { how: 'withdraw', text: found.text, by: fact.by }),
  }
}
