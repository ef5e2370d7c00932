import { isIP } from 'node:net'
import { join } from 'node:path'
import { settingThatAllows } from '../../contract/cell.ts'
import { writeFileAtomic } from '../../platform/files/atomic-file.ts'
import { createPrivateFolder, readTextIfExists } from '../../platform/files/files.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { isInternalAddress } from '../../platform/net/internal-addresses.ts'
import { serveOnSocket } from '../../platform/net/socket-server.ts'
import type { Driver } from '../drivers/driver.ts'
import type { Command, NetworkSpec } from './cell.ts'
import { networkFolder } from './places.ts'
import { isAddress, isLoopback, parseRule, plainHost, type Rule } from './network/allow-list.ts'
import { configuredRules, findProjectAddresses, publicRegistries } from './network/configured-hosts.ts'
import { proxyPort, withForwarder } from './network/forwarder.ts'
import type { Visit } from './network/proxy.ts'

export type NetworkRequest = {
  readonly spec: NetworkSpec
  /** A folder that the cell shows, with the socket of the proxy. */
  readonly folder: string | undefined
  readonly cwd: string
  /** The program's environment, with the user's own proxy. */
  readonly env: Readonly<Record<string, string>>
  readonly driver?: Driver | undefined
  readonly onNote?: ((text: string) => void) | undefined
  /** In the cell; absent: that of this machine. */
  readonly perl?: string | undefined
  /** Replaces the system's resolver in tests. */
  readonly resolve?: ((host: string) => Promise<readonly string[]>) | undefined
  /** Addresses in the project, from an earlier look. */
  readonly project?: readonly string[] | undefined
  /** From an earlier call, so that nothing the agent has written since counts. */
  readonly rules?: readonly Rule[] | undefined
}

/** For the receipt: hosts with ports, and how often. */
export type NetworkReport = {
  readonly mode: 'open' | 'closed' | 'allow-list'
  readonly allowed: Readonly<Record<string, number>>
  readonly refused: Readonly<Record<string, number>>
  /** Those of the refused hosts that `network: {allow: […]}` does not allow. */
  readonly private: Readonly<Record<string, number>>
}

export interface CellNetwork {
  /** Variables that make programs use the proxy. */
  readonly env: Readonly<Record<string, string>>
  readonly around: (command: Command) => Command
  readonly report: () => NetworkReport
  readonly close: () => Promise<void>
}

const nothing: NetworkReport = { mode: 'closed', allowed: {}, refused: {}, private: {} }

/** The network of one cell. A filtered one is served by this process as long as the attempt lasts. */
export async function openNetwork(request: NetworkRequest): Promise<CellNetwork> {
  const { spec, folder, env } = request
  if (spec === 'open' || spec === 'closed' || folder === undefined) {
    const mode = spec === 'open' ? 'open' : 'closed'
    return { env: {}, around: (command) => command, report: () => ({ ...nothing, mode }), close: async () => {} }
  }
  const rules = request.rules ?? (await resolveRules(request))
  const visits = recordVisits(request.onNote)
  // Imported here: HTTP and TLS would cost every start of Ralph, also those without a filtered network.
  const { createProxy } = await import('./network/proxy.ts')
  const server = createProxy({ rules, upstream: upstreamProxy(env), onVisit: visits.add, resolve: request.resolve })
  const { close } = await serveOnSocket(server, folder, 'proxy.sock')
  const options = {
    perl: request.perl ?? findProgram('perl', '/usr/bin:/bin', '/'),
    socket: `${networkFolder}/proxy.sock`,
    ports: rules.flatMap(({ host, port }) => (port !== undefined && isLoopback(host) ? [port] : [])),
  }
  return { env: proxyVariables, around: (command) => withForwarder(command, options), report: visits.report, close }
}

/**
 * The rules of a sprint, with what its project named before the first attempt: an agent can write lockfiles, and must not allow itself
 * a host for the next run with one.
 */
export async function pinRules(request: NetworkRequest, folder: string | undefined): Promise<Rule[]> {
  if (folder === undefined) return resolveRules(request)
  const file = join(folder, 'project-hosts.json')
  const known = await readTextIfExists(file)
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- only this function writes it, where no agent can
  const project = known === undefined ? await findProjectAddresses(request.cwd) : (JSON.parse(known) as string[])
  if (known === undefined) {
    await createPrivateFolder(folder)
    await writeFileAtomic(file, JSON.stringify(project))
  }
  return resolveRules({ ...request, project })
}

/** What the user configured and what the sprint adds. Throws NETWORK_RULE_INVALID. */
async function resolveRules({ spec, cwd, env, driver, project }: NetworkRequest): Promise<Rule[]> {
  if (spec === 'open' || spec === 'closed') return []
  const added = spec.allow.flatMap((text) => (text === 'registry' ? publicRegistries() : [parseRule(text, false)]))
  const inside = spec.private.map((text) => parseRule(text, true))
  // The ones that may be private first: the first rule that matches decides.
  return [...inside, ...(await configuredRules({ cwd, env, agent: driver?.name, project })), ...added]
}

const address = `http://127.0.0.1:${proxyPort}`
const withoutProxy = 'localhost,127.0.0.1,::1'
const proxyVariables: Readonly<Record<string, string>> = {
  HTTP_PROXY: address,
  HTTPS_PROXY: address,
  ALL_PROXY: address,
  NO_PROXY: withoutProxy,
  http_proxy: address,
  https_proxy: address,
  all_proxy: address,
  no_proxy: withoutProxy,
  NODE_USE_ENV_PROXY: '1',
}

function upstreamProxy(env: NetworkRequest['env']): URL | undefined {
  const text = env['HTTPS_PROXY'] ?? env['https_proxy'] ?? env['ALL_PROXY'] ?? env['all_proxy'] ?? ''
  return /^https?:\/\//.test(text) && URL.canParse(text) ? new URL(text) : undefined
}

/** Counts, and says once per host what was refused and which line allows it. */
function recordVisits(onNote: NetworkRequest['onNote']) {
  const allowed: Record<string, number> = {}
  const refused: Record<string, number> = {}
  const inside: Record<string, number> = {}
  return {
    add: ({ host, port, allowed: isAllowed, reason }: Visit): void => {
      const name = `${plainHost(host)}:${port}`
      const counts = isAllowed ? allowed : refused
      // Bounds memory for a program that tries endless names.
      if (counts[name] === undefined && Object.keys(counts).length >= maxHosts) return
      counts[name] = (counts[name] ?? 0) + 1
      if (isAllowed) return
      const field = reason === 'a private address' || isInside(host) ? 'private' : 'allow'
      if (field === 'private') inside[name] = counts[name]
      if (counts[name] === 1)
        onNote?.(`network: refused ${name} (${reason}); to allow it: ${settingThatAllows(name, field)}`)
    },
    report: (): NetworkReport => ({ mode: 'allow-list', allowed, refused, private: inside }),
  }
}

/** Also an address in a form that only a resolver understands, since nothing tells where it leads. */
const isInside = (host: string): boolean => isAddress(host) && (isIP(host) === 0 || isInternalAddress(host))

const maxHosts = 1000
