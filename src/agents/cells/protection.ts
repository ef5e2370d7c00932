import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { SandboxRequest } from './places.ts'
import { isDeclaredSandbox } from '../drivers/sandbox-flag.ts'
import { probeSandbox, type Capability } from './probe.ts'
import { bubblewrapSandbox, type Sandbox } from './sandbox.ts'

/** What stands between the agent and the rest of this machine, and one line about it. */
export type Protection = { readonly sandbox?: Sandbox; readonly text: string }

export type ProtectionRequest = Pick<SandboxRequest, 'ralphHomes' | 'alsoWritable'> & {
  readonly wanted: Progress['sandbox']
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
}

let probed: Promise<Capability> | undefined

/** What this machine can do; found out once. */
export const sandboxCapability = ({ env, cwd }: Pick<ProtectionRequest, 'env' | 'cwd'>): Promise<Capability> =>
  (probed ??= probeSandbox({ platform: process.platform, path: env['PATH'] ?? '', cwd }))

/** Throws SANDBOX_UNAVAILABLE if there must be a sandbox and cannot be one. */
export async function protectionFor(request: ProtectionRequest): Promise<Protection> {
  const { wanted = 'auto', env, ralphHomes, alsoWritable = [] } = request
  if (wanted === 'off') return { text: 'none, because "sandbox: off" says so' }
  if (wanted === 'auto' && isDeclaredSandbox(env)) {
    return { text: 'none of Ralph, because IS_SANDBOX says that this machine is one' }
  }
  const capability = await sandboxCapability(request)
  if (capability.kind === 'bubblewrap') {
    const asRoot = process.getuid?.() === 0
    const sandbox = bubblewrapSandbox(capability, { ralphHomes, alsoWritable, asRoot })
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
