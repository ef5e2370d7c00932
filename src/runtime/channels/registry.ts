import type { Progress } from '../../contract/progress.ts'
import type { Channel } from './channel.ts'
import { commandChannel } from './command.ts'
import { desktopChannel } from './desktop.ts'
import { webhookChannel } from './webhook.ts'

export type NotifyTarget = NonNullable<Progress['notify']>[number]

type KeyIn<T> = T extends string ? T : keyof T
/** The names that `notify` accepts in SPRINT.yaml. */
type ChannelName = KeyIn<NotifyTarget>

/** Every channel by its name in `notify`; adding one is a file and a row here. */
const channels: Readonly<Record<ChannelName, Channel>> = {
  desktop: desktopChannel,
  run: commandChannel,
  webhook: webhookChannel,
}

export const findChannel = (name: string): Channel | undefined => new Map(Object.entries(channels)).get(name)

/** Splits a target of SPRINT.yaml, such as `desktop` or `webhook: https://…`, into channel and address. */
export function parseTarget(target: NotifyTarget): { readonly channel: Channel | undefined; readonly address: string } {
  const [name, address] = typeof target === 'string' ? [target, target] : (Object.entries(target)[0] ?? ['', ''])
  return { channel: findChannel(name), address }
}
