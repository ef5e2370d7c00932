import { z } from 'zod'
import { fileObject } from './file-object.ts'

export const CellKind = z.enum(['bubblewrap', 'namespaces', 'container', 'none'])
export type CellKind = z.infer<typeof CellKind>

const hostPattern = /^((?:\*\.)?[a-z0-9_](?:[a-z0-9_.-]*[a-z0-9_])?|\[[0-9a-f:.]+\])(?::(\d{1,5}))?$/i

/** The host and the port of a network rule; undefined if the text is neither a name nor an address. */
export function parseHostRule(text: string): { readonly host: string; readonly port?: number } | undefined {
  const [, host, digits] = hostPattern.exec(text) ?? []
  if (host === undefined) return undefined
  const port = digits === undefined ? undefined : Number(digits)
  if (port !== undefined && (port < 1 || port > 65_535)) return undefined
  return { host, ...(port !== undefined && { port }) }
}

/** The setting that allows a refused host, which is given with its port. */
export function settingThatAllows(host: string, field: 'allow' | 'private'): string {
  const [, name = host, port = ''] = /^(.*):(\d+)$/.exec(host) ?? []
  const plain = name.includes(':') ? `[${name}]` : name
  return `network: {${field}: ["${['', '80', '443'].includes(port) ? plain : `${plain}:${port}`}"]}`
}

const hostText = 'a host such as example.com, example.com:8443 or *.example.com, without scheme and path'
const Host = z.string({ error: hostText }).refine((text) => parseHostRule(text) !== undefined, { error: hostText })

export const Network = z.union([
  z.enum(['default', 'open', 'closed']),
  fileObject({
    allow: z.array(Host).optional().describe('More hosts: a name, `*.name`, `name:port`, or `registry`'),
    private: z.array(Host).optional().describe('More hosts of private networks or of this machine'),
  }),
])
export type Network = z.output<typeof Network>

const units: Readonly<Record<string, number>> = { k: 1024, m: 1024 ** 2, g: 1024 ** 3, t: 1024 ** 4 }
const sizePattern = /^(\d{1,9})([kmgt])b?$/i
const sizeText = 'a size such as 512m or 4g'

/** A number of bytes: `512m` or `4g` in files. */
const Size = z.codec(z.string({ error: sizeText }).regex(sizePattern, { error: sizeText }), z.number(), {
  decode: (text) => {
    const [, digits, unit = ''] = sizePattern.exec(text) ?? []
    return Number(digits) * (units[unit.toLowerCase()] ?? Number.NaN)
  },
  encode: formatSize,
})

export function formatSize(bytes: number): string {
  const [unit, size] = Object.entries(units).findLast(([, each]) => bytes > 0 && bytes % each === 0) ?? ['k', 1024]
  return `${bytes / size}${unit}`
}

export const CellLimits = fileObject({
  processes: z.int().min(10).optional().describe('Maximum processes and threads in the cell'),
  memory: Size.optional().describe('Maximum memory of all its processes'),
  cpus: z.number().positive().max(1024).optional().describe('Maximum processors, such as 1.5'),
  disk: Size.optional().describe('Maximum that its files may grow by in all, and the maximum size of each'),
})
export type CellLimits = z.output<typeof CellLimits>

const path = z.string().regex(/^(?:\/|~\/)[^\0]*$/, { error: 'a path that starts with / or ~/' })

/** Which program starts containers, and from what. */
export const ContainerSettings = fileObject({
  command: z
    .array(z.string().min(1))
    .min(1)
    .optional()
    .describe('The program and its options, such as [podman, --runtime, runc]; default: podman, else docker'),
  image: z
    .string()
    .regex(/^(?:\/|[a-z0-9])\S*$/i, { error: 'an image such as debian:12, or a folder with a whole system' })
    .optional()
    .describe('An image; default: that of devcontainer.json, else `ralph-mode`. With podman also a folder'),
  run: z.array(z.string().startsWith('-')).optional().describe('More options of `run`, such as --device=/dev/kvm'),
})
export type ContainerSettings = z.output<typeof ContainerSettings>

const cellKinds = z.enum(['auto', ...CellKind.options])
/** What agents, checks, hooks and installs of a sprint run in. A bare name is the kind. */
export const CellSettings = z.union([
  cellKinds,
  fileObject({
    kind: cellKinds.optional().describe('auto: the best that works here; any other one is required'),
    network: Network.optional().describe('What the cell may reach; overrides `network` of the sprint'),
    limits: CellLimits.optional().describe('Limits of the cell; a limit that cannot be enforced here stops the start'),
    read: z.array(path).optional().describe('More files and folders that can be read'),
    write: z.array(path).optional().describe('More files and folders that can be written'),
    container: ContainerSettings.optional().describe('For the kind `container`, and chooses it'),
    keys: z
      .enum(['real', 'placeholder'])
      .optional()
      .describe('placeholder: the agent never holds the key of its model; a proxy of Ralph inserts it'),
  }),
])
export type CellSettings = z.output<typeof CellSettings>

/** What in the settings shows programs in a cell more of the machine than a cell does by itself. */
export function findWidening(
  cell: CellSettings | undefined,
  network: Network | undefined,
): 'network: private' | 'cell: read and write' | 'options of the container' | undefined {
  const { read = [], write = [], container, network: own } = typeof cell === 'object' ? cell : {}
  const reach = own ?? network
  if (typeof reach === 'object' && (reach.private ?? []).length > 0) return 'network: private'
  if (read.length + write.length > 0) return 'cell: read and write'
  // They start a program of their author's, or show a folder of the machine.
  const isOwn = (container?.command ?? container?.run) !== undefined || container?.image?.startsWith('/') === true
  return isOwn ? 'options of the container' : undefined
}

const hosts = z.array(z.string())
/** Hosts, with ports, that programs in a cell asked for. */
export const NetworkUse = fileObject({
  allowed: hosts.optional().describe('Hosts that they reached'),
  refused: hosts.optional().describe('Hosts that Ralph refused'),
  private: hosts.optional().describe('Those of the refused hosts that only `network: {private: […]}` allows'),
})
export type NetworkUse = z.output<typeof NetworkUse>

/** What stood between programs of a sprint and the machine. */
export const Walls = fileObject({
  around: z.string().describe('What ran in it: `agents`, `commands`, or one hook'),
  cell: CellKind.describe('Kind of the cell; none: the programs ran as the user'),
  network: z.enum(['open', 'closed', 'allow-list']).describe('What they could reach'),
  limits: z.array(z.string()).optional().describe('Limits that held, and by which means'),
})
export type Walls = z.output<typeof Walls>

/** The walls of one program, and what it did with its network. */
export type WallsUse = Omit<Walls, 'around'> & { readonly hosts?: NetworkUse | undefined }
