import type { Driver } from '../drivers/driver.ts'

type EnvVariables = Readonly<Record<string, string | undefined>>

/** Folders of toolchains and the version to use, without which programs on PATH cannot find the rest of theirs. */
const toolchainVariables = [
  'JAVA_HOME GOROOT NVM_DIR VOLTA_HOME PYENV_ROOT PYENV_VERSION VIRTUAL_ENV CONDA_PREFIX RBENV_ROOT RUSTUP_HOME',
  'RUSTUP_TOOLCHAIN DOTNET_ROOT SDKMAN_DIR MISE_DATA_DIR ASDF_DIR',
].flatMap((names) => names.split(' '))

/** What every program needs to run: PATH, user, locale, network and folders. */
const commonVariables = [
  ...toolchainVariables,
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'SHELL',
  'LANG',
  'LC_*',
  'TERM',
  'TZ',
  'TMPDIR',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'NO_PROXY',
  'ALL_PROXY',
  'http_proxy',
  'https_proxy',
  'no_proxy',
  'all_proxy',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'XDG_*',
]

/** Markers of the session that started Ralph: a nested agent would consider itself part of it. */
const sessionMarkers = [
  'CLAUDECODE',
  'CLAUDE_PID',
  'CLAUDE_EFFORT',
  'CLAUDE_ENV_FILE',
  'CLAUDE_PROJECT_DIR',
  'CLAUDE_CODE_ENTRYPOINT',
  'CLAUDE_CODE_EXECPATH',
  'CLAUDE_CODE_SESSION_*',
  'CLAUDE_CODE_CHILD_*',
  'CLAUDE_CODE_MESSAGING_*',
  'CLAUDE_CODE_SSE_PORT',
  'AI_AGENT',
  'CODEX_CI',
  'CODEX_SANDBOX*',
  'CODEX_SESSION_ID',
  'CODEX_THREAD_ID',
  'CODEX_TOOL_CALL_ID',
  'GEMINI_CLI',
  'OPENCODE',
  'OPENCODE_PID',
]

/**
 * The complete environment of an agent: the variables of the user that the driver and SPRINT.yaml allow, plus what is set for
 * this attempt. `pass` takes names and `PREFIX_*` as in SPRINT.yaml.
 */
export function buildAgentEnv(
  driver: Pick<Driver, 'env'>,
  userEnv: EnvVariables,
  pass: readonly string[],
  extra: Readonly<Record<string, string>>,
): Record<string, string> {
  const isNamed = createNameMatcher([...driver.env, ...pass])
  const env: Record<string, string> = {}
  for (const [name, value] of Object.entries(userEnv)) {
    if (value !== undefined && (isCommon(name) || isNamed(name)) && !isSessionMarker(name)) env[name] = value
  }
  return { ...env, ...extra }
}

/** Where tools are and how they behave; no model, no service and no secret. */
const toolVariables = [
  'LANGUAGE LD_LIBRARY_PATH CI NO_COLOR FORCE_COLOR NODE_ENV NODE_OPTIONS npm_config_registry COREPACK_* PIP_INDEX_URL',
  'GOPATH GOPROXY GOFLAGS GOPRIVATE CARGO_HOME',
].flatMap((names) => names.split(' '))

/** The environment of checks, gates and hooks in a cell: they run what an agent wrote. */
export const buildCommandEnv = (userEnv: EnvVariables, pass: readonly string[]): Record<string, string> =>
  buildAgentEnv({ env: toolVariables }, userEnv, pass, {})

/** Identifies the paying account, as far as the environment decides it: user, keys and folders of the program. Do not display. */
export function identifyAccount(driver: Pick<Driver, 'env'>, userEnv: EnvVariables): string {
  const decides = createNameMatcher(['HOME', ...driver.env])
  const deciding = Object.entries(userEnv).filter(([name, value]) => value !== undefined && decides(name))
  return JSON.stringify(deciding.toSorted(([a], [b]) => (a < b ? -1 : 1)))
}

const isCommon = createNameMatcher(commonVariables)
const isSessionMarker = createNameMatcher(sessionMarkers)

function createNameMatcher(patterns: readonly string[]): (name: string) => boolean {
  const names = new Set(patterns.filter((pattern) => !pattern.endsWith('*')))
  const prefixes = patterns.filter((pattern) => pattern.endsWith('*')).map((pattern) => pattern.slice(0, -1))
  return (name) => names.has(name) || prefixes.some((prefix) => name.startsWith(prefix))
}
