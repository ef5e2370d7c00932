import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'

/**
 * Nobody is there to be asked, and the agent was started to work: what can be allowed is allowed, once. A request without
 * a way to allow it is answered with "cancelled", so that the agent never waits for ever.
 */
export function answerPermission({ options }: RequestPermissionRequest): RequestPermissionResponse {
  const allow = options.find(({ kind }) => kind === 'allow_once') ?? options.find(({ kind }) => kind === 'allow_always')
  return { outcome: allow ? { outcome: 'selected', optionId: allow.optionId } : { outcome: 'cancelled' } }
}
