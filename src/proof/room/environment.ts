import { delimiter, isAbsolute, join } from 'node:path'
import { exists } from '../../platform/files/files.ts'

type Variables = Readonly<Record<string, string | undefined>>

export type EnvironmentRequest = {
  /** The environment of the user who started Ralph. */
  readonly from: Variables
  readonly project: string
  readonly home: string
  readonly temporary: string
  /** Names and prefixes (`AWS_*`) that SPRINT.yaml adds. */
  readonly pass: readonly string[]
}

/** Paths of tools and the locale; no settings of tools, no secrets. */
const passed = [
  'LANG LANGUAGE LC_* TZ TERM USER LOGNAME SHELL LD_LIBRARY_PATH SSL_CERT_FILE SSL_CERT_DIR NODE_EXTRA_CA_CERTS',
  'JAVA_HOME GOROOT GOPROXY GOFLAGS GOMODCACHE NVM_DIR VOLTA_HOME PYENV_ROOT PYENV_VERSION RBENV_ROOT RUSTUP_HOME',
  'RUSTUP_TOOLCHAIN CARGO_HOME DOTNET_ROOT SDKMAN_DIR MISE_DATA_DIR ASDF_DIR',
].flatMap((names) => names.split(' '))

/** Tools that look up their files in the home folder, which is empty in the room. */
const toolHomes: Readonly<Record<string, string>> = {
  RUSTUP_HOME: '.rustup',
  CARGO_HOME: '.cargo',
  PYENV_ROOT: '.pyenv',
  RBENV_ROOT: '.rbenv',
  VOLTA_HOME: '.volta',
  NVM_DIR: '.nvm',
  GOMODCACHE: 'go/pkg/mod',
}

/** The whole environment of a check: an allow-list, and nothing that says that Ralph runs it. */
export function roomEnvironment(request: EnvironmentRequest): Record<string, string> {
  const { from, home, temporary, project } = request
  const isPassed = allowList([...passed, ...request.pass])
  const allowed = Object.entries(from).flatMap(([name, value]) =>
    value !== undefined && isPassed(name) ? [[name, value] as const] : [],
  )
  const userHome = from['HOME'] ?? ''
  const tools = Object.entries(toolHomes)
    .map(([name, folder]) => [name, join(userHome, folder)] as const)
    .filter(([, folder]) => userHome !== '' && exists(folder))
  return {
    ...Object.fromEntries(tools),
    ...Object.fromEntries(allowed),
    PATH: outsidePath(from['PATH'] ?? '/usr/local/bin:/usr/bin:/bin', project),
    HOME: home,
    TMPDIR: temporary,
    XDG_CACHE_HOME: join(home, '.cache'),
    // Compiled files beside the sources are not read: an agent can write them so that Python trusts them blindly.
    PYTHONPYCACHEPREFIX: join(home, '.pycache'),
    PYTHONNOUSERSITE: '1',
    CI: 'true',
    NO_COLOR: '1',
    NO_UPDATE_NOTIFIER: '1',
    npm_config_update_notifier: 'false',
  }
}

function allowList(names: readonly string[]): (name: string) => boolean {
  const exact = new Set(names.filter((name) => !name.endsWith('*')))
  const prefixes = names.filter((name) => name.endsWith('*')).map((name) => name.slice(0, -1))
  return (name) => !name.startsWith('RALPH_') && (exact.has(name) || prefixes.some((prefix) => name.startsWith(prefix)))
}

/** A folder of the project on PATH would let the agent choose the programs. */
const outsidePath = (path: string, project: string): string =>
  path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder) && folder !== project && !folder.startsWith(`${project}/`))
    .join(delimiter)
