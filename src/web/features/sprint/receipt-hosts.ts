import type { IterationRecord } from '../../../contract/progress.ts'

type HostLine = { readonly name: 'hosts reached' | 'hosts refused'; readonly text: string }

/** The hosts that the agent asked for through the network of its cell; none if it asked for none. */
export const listHostLines = ({ hosts = {} }: Pick<IterationRecord, 'hosts'>): HostLine[] => [
  ...(hosts.allowed ? [{ name: 'hosts reached' as const, text: hosts.allowed.join(', ') }] : []),
  ...(hosts.refused ? [{ name: 'hosts refused' as const, text: hosts.refused.join(', ') }] : []),
]
