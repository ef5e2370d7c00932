import { parseTarget } from '../../runtime/channels/registry.ts'
import type { ChannelTools } from '../../runtime/channels/channel.ts'
import type { Ports, ShellRunner } from '../../runtime/ports.ts'
import type { Io } from '../io/io.ts'

const commandTimeoutMs = 30_000

/** Notifies people through the channels of a sprint. */
export function createNotifier(shell: ShellRunner, io: Io): Ports['notify'] {
  const tools = createChannelTools(shell, io)
  return async (target, message) => {
    const { channel, address } = parseTarget(target)
    if (!channel) throw new Error('there is no such channel')
    const body = { ...message, at: new Date(io.now()).toISOString() }
    await channel.send(address, { ...message, body }, tools)
  }
}

function createChannelTools(shell: ShellRunner, io: Io): ChannelTools {
  let count = 0
  return {
    platform: process.platform,
    run: async (command, env) => {
      // Notifications can be sent at the same moment, so each has its own folder.
      const request = { attempt: `notify-${++count}`, command, timeoutMs: commandTimeoutMs, env, cell: 'none' as const }
      const { exitCode, error, output } = await shell.run(request, new AbortController().signal)
      if (exitCode !== 0 || error !== undefined)
        throw new Error(error ?? `exit code ${exitCode}: ${output.trim().slice(-200)}`)
    },
    post: async (url, body, id) => {
      // Importing HTTPS would add 20 ms to every start, and memory to every run.
      const { postWebhook } = await import('../../platform/net/webhook.ts')
      await postWebhook(url, body, { secret: io.env['RALPH_WEBHOOK_SECRET'], id })
    },
  }
}
