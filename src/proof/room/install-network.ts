import { join } from 'node:path'
import { openNetwork, type CellNetwork } from '../../agents/cells/cell-network.ts'
import { findProjectAddresses } from '../../agents/cells/network/configured-hosts.ts'
import { networkFolder } from '../../agents/cells/places.ts'
import { createPrivateFolder } from '../../platform/files/files.ts'
import type { RoomMount } from './enclosure.ts'

export type InstallNetworkRequest = {
  /** The fresh folder of this install. */
  readonly scratch: string
  /** Holds manifests, lockfiles and settings as they were before the first agent. */
  readonly start: string
  /** The environment of the user: it names registries and the user's own proxy. */
  readonly env: Readonly<Record<string, string | undefined>>
}

export type InstallNetwork = {
  readonly env: Readonly<Record<string, string>>
  readonly mounts: readonly RoomMount[]
  readonly around: (argv: readonly [string, ...string[]]) => readonly [string, ...string[]]
  /** Hosts that the install asked for and did not get. */
  readonly refused: () => string[]
  readonly close: () => Promise<void>
}

/**
 * The network of an install: the public registries and what the user configured before the first agent, by the proxy that cells
 * have. A manifest of the agent names packages, never a host.
 */
export async function openInstallNetwork({ scratch, start, env }: InstallNetworkRequest): Promise<InstallNetwork> {
  const folder = join(scratch, 'network')
  await createPrivateFolder(folder)
  const network: CellNetwork = await openNetwork({
    spec: { allow: ['registry'], private: [] },
    folder,
    cwd: start,
    env: Object.fromEntries(
      Object.entries(env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
    project: await findProjectAddresses(start),
  })
  return {
    env: { ...network.env, ...yarnVariables(network.env) },
    mounts: [{ kind: 'ro-bind', from: folder, at: networkFolder }],
    around: ([file, ...args]) => {
      const command = network.around({ file, args, env: {} })
      return [command.file, ...command.args]
    },
    refused: () => Object.keys(network.report().refused),
    close: network.close,
  }
}

/** Yarn from version 2 on ignores the usual names. */
const yarnVariables = ({ HTTP_PROXY = '', HTTPS_PROXY = '' }: Readonly<Record<string, string>>) => ({
  YARN_HTTP_PROXY: HTTP_PROXY,
  YARN_HTTPS_PROXY: HTTPS_PROXY,
})
