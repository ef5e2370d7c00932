import { probeSandbox, type Capability } from '../agents/sandbox/probe.ts'
import { bubblewrapSandbox, type Sandbox } from '../agents/sandbox/sandbox.ts'
import { RalphError } from '../contract/errors.ts'
import type { Progress } from '../contract/progress.ts'
import { ralphHome } from './ralph-home.ts'
import type { Io } from './io.ts'

/** What stands between the agent and the rest of this machine, and one line about it. */
export type Protection = { readonly sandbox?: Sandbox; readonly text: string }

let probed: Promise<Capability> | undefined

/** What this machine can do; found out once. */
export const sandboxCapability = (io: Io): Promise<Capability> =>
  (probed ??= probeSandbox({ platform: process.platform, path: io.env['PATH'] ?? '', cwd: io.cwd }))

/** Throws SANDBOX_UNAVAILABLE if there must be a sandbox and cannot be one. */
export async function protectionFor(wanted: Progress['sandbox'] = 'auto', io: Io): Promise<Protection> {
  if (wanted === 'off') return { text: 'none, because "sandbox: off" says so' }
  if (wanted === 'auto' && io.env['IS_SANDBOX']) {
    return { text: 'none of Ralph, because IS_SANDBOX says that this machine is one' }
  }
  const capability = await sandboxCapability(io)
  if (capability.kind === 'bubblewrap') {
    const sandbox = bubblewrapSandbox(capability, { ralphHome: ralphHome(io), asRoot: process.getuid?.() === 0 })
    return { sandbox, text: capabilityText(capability) }
  }
  if (wanted === 'auto') return { text: capabilityText(capability) }
  throw new RalphError('SANDBOX_UNAVAILABLE', `the sprint requires a sandbox: ${capability.reason}`, {
    hint: 'install bubblewrap (bwrap), or run it in a container and say "sandbox: off"',
  })
}

export const capabilityText = (capability: Capability): string =>
  capability.kind === 'none'
    ? `none, because ${capability.reason}`
    : `bubblewrap ${capability.version}: the agent can change the project, its own state and caches, nothing else`
