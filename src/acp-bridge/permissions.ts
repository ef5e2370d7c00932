import { clipText } from '../contract/text.ts'
import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'

/** A decision that only the user can make. */
export type PermissionQuestion = {
  readonly reason: string
  readonly details: string
  readonly options?: readonly string[]
}

/**
 * No user is present during a turn, so choose the option that the user chose before, else one that allows the call, once.
 * Undefined for a request that no option allows.
 */
export function answerPermission(
  { options }: RequestPermissionRequest,
  chosen: string | undefined,
): RequestPermissionResponse | undefined {
  const choice = chosen?.trim().toLowerCase()
  const option =
    options.find(({ name }) => name.trim().toLowerCase() === choice) ??
    options.find(({ kind }) => kind === 'allow_once') ??
    options.find(({ kind }) => kind === 'allow_always')
  return option && { outcome: { outcome: 'selected', optionId: option.optionId } }
}

export function describePermission({ toolCall, options }: RequestPermissionRequest): PermissionQuestion {
  const { title, rawInput } = toolCall
  const input = rawInput === undefined || rawInput === null ? '' : ` It would be called with ${clipJson(rawInput)}.`
  return {
    reason: `The agent asks for a permission that Ralph cannot grant: ${title ?? 'a tool without a title'}`,
    details: `None of its options allows it.${input}`,
    options: options.map(({ name }) => name),
  }
}

const clipJson = (value: unknown): string => clipText(JSON.stringify(value), 500)
