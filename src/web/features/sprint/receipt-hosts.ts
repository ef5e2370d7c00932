import { settingThatAllows } from '../../../contract/cell.ts'
import type { IterationRecord } from '../../../contract/progress.ts'

type HostLine = {
  readonly name: 'hosts reached' | 'refused host'
  readonly text: string
  /** What the user adds to SPRINT.yaml to allow it. */
  readonly setting?: string
}

/** The hosts that the agent asked for through the network of its cell; none if it asked for none. */
export const listHostLines = ({ hosts = {} }: Pick<IterationRecord, 'hosts'>): HostLine[] => [
  ...(hosts.allowed ? [{ name: 'hosts reached' as const, text: hosts.allowed.join(', ') }] : []),
  ...(hosts.refused ?? []).map((text) => ({
    name: 'refused host' as const,
    text,
    setting: settingThatAllows(text, hosts.private?.includes(text) === true ? 'private' : 'allow'),
  })),
]
