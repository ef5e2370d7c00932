/** Why the result of a check differs between room and work tree, as far as its output shows. */
export type RoomGap = {
  /** Files of the work tree that are not in the copy, because git ignores them. */
  readonly omitted: readonly string[]
  /** What the check printed in the room. */
  readonly output: string
}

const maxNames = 5

const offline =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|getaddrinfo|name resolution|Could not resolve|Network is unreachable|connection refused|Failed to establish a new connection/i
const notInstalled =
  /Cannot find (?:module|package) '(?![./])|ModuleNotFoundError|No module named|command not found|: not found|ERR_MODULE_NOT_FOUND/

/** One sentence: what the room lacks, and the setting that provides it. */
export function proposeRoom({ omitted, output }: RoomGap): string {
  const named = omitted.filter((path) => output.includes(path) || output.includes(path.split('/').at(-1) ?? path))
  const copy = outermost(named.length > 0 ? named : omitted).slice(0, maxNames)
  const isOffline = offline.test(output)
  const lacksPackages = named.length === 0 && notInstalled.test(output)
  const settings = [
    ...(lacksPackages ? ['install: "the command that installs packages"'] : []),
    ...(isOffline ? ['network: true'] : []),
    ...(copy.length > 0 && !(isOffline || lacksPackages) ? [`copy: [${copy.join(', ')}]`] : []),
  ]
  const lacks = [
    ...(lacksPackages ? ['an installed package'] : []),
    ...(isOffline ? ['the network, or a service on this machine'] : []),
    ...(copy.length > 0 && !(isOffline || lacksPackages) ? [copy.join(', ')] : []),
  ]
  if (settings.length === 0)
    return 'Name what the copy lacks with "room: {copy: […], install: …, network: true}" in SPRINT.yaml'
  return `The copy lacks ${lacks.join(' and ')}: write "room: {${settings.join(', ')}}" into SPRINT.yaml`
}

/** The end of a sentence about a check that is red where nothing outside can be reached; undefined: its output says nothing of it. */
export function proposeNetwork(output: string, isOff: boolean): string | undefined {
  if (!offline.test(output)) return undefined
  const port = /ECONNREFUSED\s+\S+:(\d+)|\bport:? (\d+)/
    .exec(output)
    ?.slice(1)
    .find((found) => found !== undefined)
  const service = port === undefined ? 'localhost:<port>' : `localhost:${port}`
  const open = `"network: {private: ['${service}']}"`
  return isOff
    ? `could not connect. If it needs a service of this machine, write ${open} into SPRINT.yaml`
    : `could not connect. If it needs a service, write "room: {network: true, services: ['${service}']}" into SPRINT.yaml; or "room: off" and ${open}, which the result says`
}

/** The top folder where everything in it is left out would be too much to copy: two levels are named. */
const outermost = (paths: readonly string[]): string[] => [
  ...new Set(paths.map((path) => (path.split('/').length > 2 ? path.split('/').slice(0, 2).join('/') : path))),
]
