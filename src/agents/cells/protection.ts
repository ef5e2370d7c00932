import type { CellKind, Walls } from '../../contract/cell.ts'
import { RalphError } from '../../contract/errors.ts'
import { pathOutside } from '../../platform/safe-path.ts'
import { isDeclaredSandbox } from '../drivers/sandbox-flag.ts'
import type { Availability, Cell, CellSpec, CellTools, Guarantees, Machine, NetworkSpec } from './cell.ts'
import { resolveCellRequest, type CellRequest, type WallSettings } from './cell-request.ts'
import { planLimits } from './limits.ts'
import { none } from './none.ts'
import { automaticCells, cells } from './registry.ts'
import { networkMode, openSandbox, type Sandbox } from './sandbox.ts'

/** What stands between the agent and the rest of this machine, and one line about it. */
export type Protection = {
  /** Absent: `cell: none`. */
  readonly sandbox?: Sandbox
  readonly text: string
  /** For the result of the sprint. */
  readonly kind: CellKind
  readonly guarantees: Guarantees
  readonly network: Walls['network']
}

export type ProtectionRequest = {
  /** What the sprint asks for. */
  readonly walls: WallSettings
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly ralphHomes: readonly string[]
  /** What an agent writes besides its work: its notes. */
  readonly alsoWritable?: readonly string[]
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

/** Found out once per member; once per project where it can choose the image. */
function probe(cell: Cell, machine: Machine): Promise<Availability> {
  const key = cell.kind === 'container' ? JSON.stringify([machine.cwd, machine.container]) : cell.kind
  const known = probed.get(key) ?? cell.probe(machine)
  probed.set(key, known)
  return known
}

type CellChoice = { readonly kind?: CellRequest['kind']; readonly container?: CellSpec['container'] }

/** What `sandbox: auto` means here. */
export async function automaticCapability(
  request: Pick<ProtectionRequest, 'env' | 'cwd'>,
  choice: CellChoice = {},
): Promise<Capability> {
  if (!isDeclaredSandbox(request.env)) return sandboxCapability(request, choice)
  return { kind: 'none', reason: 'IS_SANDBOX is set; "sandbox: required" adds one all the same' }
}

/** The best cell that works here, or why there is none. */
async function sandboxCapability(
  { env, cwd }: Pick<ProtectionRequest, 'env' | 'cwd'>,
  { kind, container }: CellChoice,
): Promise<Capability> {
  const machine = { platform: process.platform, path: pathOutside(env['PATH'] ?? '', cwd), cwd, container }
  const candidates = kind === undefined ? automaticCells : [cells[kind]]
  const reasons: string[] = []
  for (const each of candidates) {
    const found = await probe(each, machine)
    if (found.available && each.kind !== 'none') {
      return { kind: each.kind, version: found.version, tools: found.tools, cell: each }
    }
    if (!found.available) reasons.push(found.reason)
  }
  return { kind: 'none', reason: reasons.join(', and ') }
}

/** Throws SANDBOX_UNAVAILABLE if the sprint asks for walls that this machine cannot have. */
export async function protectionFor(request: ProtectionRequest): Promise<Protection> {
  const { walls, ralphHomes, alsoWritable = [] } = request
  const { mode, kind, spec } = resolveCellRequest(walls)
  if (mode === 'none') return unprotected(`none, because "${walls.cell ? 'cell: none' : 'sandbox: off'}" says so`)
  const choice = { kind, container: spec.container }
  const capability =
    mode === 'auto' ? await automaticCapability(request, choice) : await sandboxCapability(request, choice)
  if (capability.kind === 'none') {
    if (mode === 'auto') return unprotected(capabilityText(capability))
    throw unavailable(
      `the sprint requires a cell: ${capability.reason}`,
      kind === 'container' ? containerHint : cellHint,
    )
  }
  const { cell, tools } = capability
  const { texts, missing } = planLimits(spec.limits, tools)
  if (missing.length > 0) {
    throw unavailable(`the sprint limits ${missing.join(' and ')}, which this machine cannot: no cgroup can be written`)
  }
  if (spec.network !== 'open' && cell.guarantees.network === 'none') {
    throw unavailable(
      `the sprint limits the network, which a cell of the kind ${cell.kind} cannot; say "network: open"`,
    )
  }
  const sandbox = openSandbox({ cell, tools, spec: { ...spec, write: [...spec.write, ...alsoWritable] }, ralphHomes })
  const { guarantees } = cell
  const text = [capabilityText(capability), `network: ${networkText(spec.network)}`, ...limitsText(texts)].join('; ')
  return { sandbox, text, kind: cell.kind, guarantees, network: networkMode(spec.network) }
}

const cellHint = 'install bubblewrap (bwrap), or run it in a container and say "sandbox: off"'
const containerHint = 'install podman or docker, or name another program: "cell: {container: {command: …}}"'

const unavailable = (message: string, hint = cellHint): RalphError =>
  new RalphError('SANDBOX_UNAVAILABLE', message, { hint })

const unprotected = (text: string): Protection => ({ text, kind: 'none', guarantees: none.guarantees, network: 'open' })

export const capabilityText = (capability: Capability): string =>
  capability.kind === 'none'
    ? `none, because ${capability.reason}`
    : `${capability.kind} ${capability.version}: the agent sees and changes the project and its own state, nothing else`

function networkText(network: NetworkSpec): string {
  if (typeof network === 'string') return network
  const more = [...network.allow, ...network.private]
  return `the model, registries and remotes that you configured${more.length > 0 ? `, and ${more.join(', ')}` : ''}`
}

const limitsText = (texts: readonly string[]): string[] => (texts.length === 0 ? [] : [`limits: ${texts.join(', ')}`])
