import type { CellKind, CellSettings, Network } from '../../contract/cell.ts'
import { RalphError } from '../../contract/errors.ts'
import type { Progress } from '../../contract/progress.ts'
import type { CellSpec, NetworkSpec } from './cell.ts'

/** The fields of a sprint that say what its programs run in. */
export type WallSettings = Pick<Progress, 'sandbox' | 'cell' | 'network'>

export type CellRequest = {
  /** `none`: no cell. `auto`: one if this machine can have it. `required`: one, or the sprint does not start. */
  readonly mode: 'none' | 'auto' | 'required'
  /** The required kind; absent: the best one that works. */
  readonly kind?: Exclude<CellKind, 'none'> | undefined
  readonly spec: CellSpec
}

/** Resolves `sandbox`, `cell` and `network` of a sprint. Throws SANDBOX_UNAVAILABLE if they ask for walls and for none. */
export function resolveCellRequest({ sandbox, cell: settings = {}, network }: WallSettings): CellRequest {
  const cell: Exclude<CellSettings, string> = typeof settings === 'string' ? { kind: settings } : settings
  const { limits = {}, read = [], write = [], keys = 'real', container } = cell
  const spec = { network: resolveNetwork(cell.network ?? network ?? 'default'), limits, read, write, keys, container }
  const demand = findDemand(cell, { sandbox, network: spec.network })
  const isNone = cell.kind === undefined ? sandbox === 'off' : cell.kind === 'none'
  if (isNone && demand === undefined) return { mode: 'none', spec }
  if (isNone) {
    const off = cell.kind === 'none' ? 'cell: none' : 'sandbox: off'
    throw new RalphError('SANDBOX_UNAVAILABLE', `"${demand}" needs a cell, and "${off}" says that there is none`, {
      hint: 'remove one of the two',
    })
  }
  const kind = cell.kind === 'auto' || cell.kind === 'none' ? undefined : (cell.kind ?? (container && 'container'))
  return { mode: demand === undefined ? 'auto' : 'required', kind, spec }
}

/** Returns the setting that only a cell can enforce. More hosts and files only widen a cell, so they demand none. */
function findDemand(
  { kind, limits, keys, container }: Exclude<CellSettings, string>,
  { sandbox, network }: { readonly sandbox: Progress['sandbox']; readonly network: NetworkSpec },
): string | undefined {
  if (kind !== undefined && kind !== 'auto' && kind !== 'none') return `cell: ${kind}`
  if (container !== undefined) return 'cell: container'
  if (sandbox === 'required') return 'sandbox: required'
  if (network === 'closed') return 'network: closed'
  if (keys === 'placeholder') return 'keys: placeholder'
  return Object.keys(limits ?? {}).length > 0 ? 'limits of the cell' : undefined
}

function resolveNetwork(network: Network): NetworkSpec {
  if (network === 'open' || network === 'closed') return network
  return network === 'default'
    ? { allow: [], private: [] }
    : { allow: network.allow ?? [], private: network.private ?? [] }
}
