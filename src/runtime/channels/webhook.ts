import type { Channel } from './channel.ts'

/** `notify: [{ webhook: … }]`, and the webhooks of the fleet: a POST with JSON. */
export const webhookChannel: Channel = {
  send: (url, { id, body }, { post }) => post(url, JSON.stringify(body), id),
}
