/** What a sandboxed program may do with the files of this machine. All paths are absolute, free of links, and there. */
export type SandboxProfile = {
  readonly cwd: string
  /** A folder that the program sees as /tmp and /var/tmp. */
  readonly temporary: string
  /** Outside the temporary folders everything can be read; of what lies in them, only this. */
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  /** Inside of what is writable, but not to be changed. */
  readonly readOnly: readonly string[]
  /** Not even to be read, but for what is writable in it. */
  readonly hidden: readonly string[]
  /** A folder inside of what is read-only for what the program has to tell us. Made when the attempt begins. */
  readonly told: string
  readonly asRoot: boolean
}

/** Told to the agent and all that it starts, `ralph mcp` among them, which then cannot see the processes outside. */
export const sandboxVariable = 'RALPH_SANDBOX'

const temporaryFolders = ['/tmp', '/var/tmp']

/** What a root without any capability would lack among its own files. None of them reaches beyond the mounts. */
const rootsCapabilities = ['CAP_CHOWN', 'CAP_DAC_OVERRIDE', 'CAP_FOWNER', 'CAP_SETGID', 'CAP_SETUID']

/**
 * The arguments for bubblewrap, up to the program. Later mounts cover earlier ones, so they go from the outside in: everything
 * read-only, private temporary folders, then the exceptions, each group from short paths to long ones. The environment is the
 * one that bubblewrap itself is started with: in arguments everybody could read it.
 */
export function bubblewrapArguments(profile: SandboxProfile): string[] {
  const { cwd, temporary, told, asRoot } = profile
  const isHidden = (path: string) => profile.hidden.some((folder) => isWithin(path, folder))
  const capabilities = asRoot ? rootsCapabilities.flatMap((name) => ['--cap-add', name]) : []
  const mounts: Mount[] = [
    ['--ro-bind', '/', '/'],
    ['--dev', '/dev'],
    ['--proc', '/proc'],
    ...temporaryFolders.map((path): Mount => ['--bind', temporary, path]),
    ...outsideIn(profile.readable.filter(isTemporary)).map((path): Mount => ['--ro-bind', path, path]),
    ...outsideIn(profile.writable.filter((path) => !isHidden(path))).map((path): Mount => ['--bind', path, path]),
    ...outsideIn(profile.hidden).map((path): Mount => ['--tmpfs', path]),
    ...outsideIn(profile.writable.filter(isHidden)).map((path): Mount => ['--bind', path, path]),
    ...outsideIn(profile.readOnly).map((path): Mount => ['--ro-bind', path, path]),
    ['--bind', told, told],
  ]
  return [
    '--unshare-pid',
    '--die-with-parent',
    '--cap-drop',
    'ALL',
    ...capabilities,
    ...mounts.flat(),
    '--chdir',
    cwd,
    '--',
  ]
}

/** How, from where, to where. */
type Mount = readonly string[]

const outsideIn = (paths: readonly string[]): string[] =>
  [...new Set(paths)].toSorted((a, b) => a.length - b.length || (a < b ? -1 : 1))

const isTemporary = (path: string): boolean => temporaryFolders.some((folder) => isWithin(path, folder))

export const isWithin = (path: string, folder: string): boolean =>
  path === folder || path.startsWith(folder === '/' ? '/' : `${folder}/`)
