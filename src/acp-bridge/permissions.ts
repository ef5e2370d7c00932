import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'

/** What only a person can decide. */
export type Question = { readonly reason: string; readonly details: string; readonly options?: readonly string[] }

/**
 * Nobody is there to be asked, and the agent was started to work: what a person has chosen before is chosen, and what can be
 * allowed is allowed, once. Undefined for a request without a way to allow it.
 */
export function answerPermission(
  { options }: RequestPermissionRequest,
  chosen: string | undefined,
): RequestPermissionResponse | undefined {
  const wanted = chosen?.trim().toLowerCase()
  const option =
    options.find(({ name }) => name.trim().toLowerCase() === wanted) ??
    options.find(({ kind }) => kind === 'allow_once') ??
    options.find(({ kind }) => kind === 'allow_always')
  return option && { outcome: { outcome: 'selected', optionId: option.optionId } }
}

export function questionOf({ toolCall, options }: RequestPermissionRequest): Question {
  const { title, rawInput } = toolCall
  const input = rawInput === undefined || rawInput === null ? '' : ` It would be called with ${clipped(rawInput)}.`
  return {
    reason: `The agent wants a permission that Ralph cannot give: ${title ?? 'a tool without a title'}`,
    details: `None of its options allows it.${input}`,
    options: options.map(({ name }) => name),
  }
}

const clipped = (value: unknown): string => {
  const text = JSON.stringify(value)
  return text.length <= 500 ? text : `${text.slice(0, 500)}…`
}
