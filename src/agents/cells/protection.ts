import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import { isDeclaredSandbox } from '../drivers/sandbox-flag.ts'
import type { Availability, Cell, CellKind, CellSpec, CellTools, Guarantees, Machine, NetworkSpec } from './cell.ts'
import { none } from './none.ts'
import { automaticCells, cells } from './registry.ts'
import { openSandbox, type Sandbox } from './sandbox.ts'

/** What stands between the agent and the rest of this machine, and one line about it. */
export type Protection = {
  /** Absent: `cell: none`. */
  readonly sandbox?: Sandbox
  readonly text: string
  /** For the result of the sprint. */
  readonly kind: CellKind
  readonly guarantees: Guarantees
  readonly network: 'open' | 'closed' | 'allow-list'
}

export type ProtectionRequest = {
  readonly wanted: Progress['sandbox']
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly ralphHomes: readonly string[]
  /** What an agent writes besides its work: its notes. */
  readonly alsoWritable?: readonly string[]
  /** A certain cell instead of the best one. `none` is chosen by `wanted: off`. */
  readonly cell?: Partial<CellSpec> | undefined
  /** One line for the user, e.g. about a host that was refused. */
  readonly onNote?: ((text: string) => void) | undefined
}

/** What this machine can do. */
export type Capability =
  | {
      readonly kind: Exclude<CellKind, 'none'>
      readonly version: string
      readonly tools: CellTools
      readonly cell: Cell
    }
  | { readonly kind: 'none'; readonly reason: string }

const probed = new Map<string, Promise<Availability>>()

/** Found out once per member. */
function probe(cell: Cell, machine: Machine): Promise<Availability> {
  const known = probed.get(cell.kind) ?? cell.probe(machine)
  probed.set(cell.kind, known)
  return known
}

/** The best cell that works here, or why there is none. */
export async function sandboxCapability({
  env,
  cwd,
  cell,
}: Pick<ProtectionRequest, 'env' | 'cwd' | 'cell'>): Promise<Capability> {
  const machine = { platform: process.platform, path: env['PATH'] ?? '', cwd }
  const wanted = cell?.kind === undefined ? automaticCells : [cells[cell.kind] ?? none]
  const reasons: string[] = []
  for (const each of wanted) {
    const found = await probe(each, machine)
    if (found.available && each.kind !== 'none') {
      return { kind: each.kind, version: found.version, tools: found.tools, cell: each }
    }
    if (!found.available) reasons.push(found.reason)
  }
  return { kind: 'none', reason: reasons.join(', and ') || 'no cell was asked for' }
}

/** What the user configured, and nothing else. */
const usualNetwork: NetworkSpec = { allow: [], private: [] }

/** Throws SANDBOX_UNAVAILABLE if there must be a sandbox and cannot be one. */
export async function protectionFor(request: ProtectionRequest): Promise<Protection> {
  const { wanted = 'auto', env, ralphHomes, alsoWritable = [], cell, onNote } = request
  if (wanted === 'off') return unprotected('none, because "sandbox: off" says so')
  if (wanted === 'auto' && isDeclaredSandbox(env)) {
    return unprotected('none of Ralph, because IS_SANDBOX says that this machine is one')
  }
  const capability = await sandboxCapability(request)
  if (capability.kind !== 'none') {
    const { network = usualNetwork, limits = {}, read = [], write = [] } = cell ?? {}
    const spec = { network, limits, read, write: [...write, ...alsoWritable] }
    const sandbox = openSandbox({ cell: capability.cell, tools: capability.tools, spec, ralphHomes, onNote })
    const { kind, guarantees } = capability.cell
    const text = `${capabilityText(capability)}; network: ${networkText(network)}`
    return { sandbox, text, kind, guarantees, network: typeof network === 'string' ? network : 'allow-list' }
  }
  if (wanted === 'auto') return unprotected(capabilityText(capability))
  throw new RalphError('SANDBOX_UNAVAILABLE', `the sprint requires a sandbox: ${capability.reason}`, {
    hint: 'install bubblewrap (bwrap), or run it in a container and say "sandbox: off"',
  })
}

const unprotected = (text: string): Protection => ({ text, kind: 'none', guarantees: none.guarantees, network: 'open' })

export const capabilityText = (capability: Capability): string =>
  capability.kind === 'none'
    ? `none, because ${capability.reason}`
    : `${capability.kind} ${capability.version}: the agent sees and changes the project and its own state, nothing else`

const networkText = (network: NetworkSpec): string =>
  typeof network === 'string' ? network : 'the model, registries and remotes that you configured'
