import { join } from 'node:path'
import { exists, listFolder, readPlainText, readTextSyncIfExists } from '../../../platform/files/files.ts'
import { git } from '../../../platform/git.ts'
import { parseRule, urlRule, type Rule } from './allow-list.ts'

type Variables = Readonly<Record<string, string>>

/** Where the agent programs' own services are. Other programs may be any of them. */
const modelHosts: Readonly<Record<string, readonly string[]>> = {
  claude: ['api.anthropic.com', 'console.anthropic.com', 'platform.claude.com', 'claude.ai'],
  codex: ['api.openai.com', 'chatgpt.com', 'auth.openai.com'],
  gemini: [
    'generativelanguage.googleapis.com',
    'cloudcode-pa.googleapis.com',
    'oauth2.googleapis.com',
    '*.googleapis.com',
  ],
  opencode: [
    'opencode.ai',
    'models.dev',
    'openrouter.ai',
    'api.mistral.ai',
    'api.deepseek.com',
    'api.groq.com',
    'api.x.ai',
  ],
  copilot: ['api.githubcopilot.com', '*.githubcopilot.com', 'api.github.com'],
}

/** Hosts of providers that are switched on by a variable. */
const providerVariables: readonly (readonly [name: RegExp, host: string])[] = [
  [/^CLAUDE_CODE_USE_BEDROCK$/, '*.amazonaws.com'],
  [/^CLAUDE_CODE_USE_VERTEX$/, '*.googleapis.com'],
  [/^AZURE_OPENAI_/, '*.openai.azure.com'],
]

/** By the file that shows that a project uses them. */
const registries: readonly (readonly [manifest: RegExp, hosts: readonly string[]])[] = [
  [/^package\.json$/, ['registry.npmjs.org', 'registry.yarnpkg.com', 'npm.jsr.io']],
  [/^(?:pyproject\.toml|setup\.(?:py|cfg)|Pipfile|requirements.*\.txt)$/, ['pypi.org', 'files.pythonhosted.org']],
  [/^Cargo\.toml$/, ['index.crates.io', 'static.crates.io', 'crates.io']],
  [/^go\.(?:mod|work)$/, ['proxy.golang.org', 'sum.golang.org']],
  [/^Gemfile$/, ['rubygems.org', 'index.rubygems.org']],
  [/^composer\.json$/, ['repo.packagist.org', 'packagist.org']],
  [
    /^(?:pom\.xml|build\.gradle.*|settings\.gradle.*)$/,
    ['repo.maven.apache.org', 'repo1.maven.org', 'plugins.gradle.org', 'services.gradle.org'],
  ],
  [/\.(?:cs|fs|vb)proj$|\.sln$/, ['api.nuget.org']],
  [/^deno\.jsonc?$/, ['jsr.io', 'deno.land']],
  [/^mix\.exs$/, ['hex.pm', 'repo.hex.pm']],
]

/** Settings of package managers, in which every address is a registry. In the project, and in the home folder. */
const settingsFiles = [
  '.npmrc',
  '.yarnrc',
  '.yarnrc.yml',
  '.cargo/config.toml',
  'bunfig.toml',
  'pip.conf',
  '.config/pip/pip.conf',
  '.pip/pip.conf',
  'nuget.config',
]
/** Settings of agent programs: a base URL in them is a model's. */
const agentSettings = [
  '.claude/settings.json',
  '.codex/config.toml',
  '.config/opencode/opencode.json',
  '.gemini/settings.json',
  '.gemini/.env',
]
const registryVariables =
  /^(?:npm_config_registry|NPM_CONFIG_REGISTRY|PIP_(?:EXTRA_)?INDEX_URL|UV_(?:EXTRA_|DEFAULT_)?INDEX(?:_URL)?|GOPROXY|CARGO_REGISTR.*_INDEX|YARN_NPM_REGISTRY_SERVER|BUNDLE_MIRROR.*)$/
const baseUrlVariables = /(?:_BASE_?URL|_API_BASE|_ENDPOINT|_API_URL|_API_HOST)$/

/** Where a lockfile says that it has a package from. Not every address in it: some are of authors and sponsors. */
const lockfiles: Readonly<Record<string, RegExp>> = {
  'package-lock.json': /"resolved": "(https?:\/\/[^"]+)"/g,
  'npm-shrinkwrap.json': /"resolved": "(https?:\/\/[^"]+)"/g,
  'yarn.lock': /resolved "(https?:\/\/[^"]+)"/g,
  'pnpm-lock.yaml': /tarball: (https?:\/\/[^\s,}]+)/g,
  'uv.lock': /(?:url|registry) = "(https?:\/\/[^"]+)"/g,
  'poetry.lock': /url = "(https?:\/\/[^"]+)"/g,
  'Pipfile.lock': /"url": "(https?:\/\/[^"]+)"/g,
  'Cargo.lock': /(?:registry|sparse)\+(https?:\/\/[^"]+)/g,
  'Gemfile.lock': /remote: (https?:\/\/\S+)/g,
}
const maxLockfileBytes = 20_000_000

export type ConfiguredRequest = {
  readonly cwd: string
  readonly env: Variables
  /** Name of the driver; absent for checks and hooks, which talk to no model. */
  readonly agent?: string | undefined
  /** Addresses in the project, from an earlier look; absent: as they are now. */
  readonly project?: readonly string[] | undefined
}

/**
 * What the user configured: the hosts of the model, of package registries and of the repository. To be asked once, before the
 * first attempt: an agent can write lockfiles.
 */
export async function configuredRules({ cwd, env, agent, project }: ConfiguredRequest): Promise<Rule[]> {
  const names = await listFolder(cwd)
  const home = env['HOME'] ?? '/'
  const own = settingsFiles.flatMap((name) => [join(home, name), join('/etc', name.replace(/^\./, ''))])
  const texts = [
    ...own.flatMap((path) => addressesIn(readTextSyncIfExists(path) ?? '')),
    ...Object.entries(env).flatMap(([name, value]) => (registryVariables.test(name) ? addressesIn(value) : [])),
    ...(project ?? (await findProjectAddresses(cwd))),
    ...(agent === undefined ? [] : modelAddresses(home, env)),
  ]
  const used = registries.flatMap(([manifest, hosts]) => (names.some((name) => manifest.test(name)) ? hosts : []))
  const hosts = [...used, ...(agent === undefined ? [] : hostsOfAgent(agent, env))]
  return dedupe([...texts.flatMap((text) => urlRule(text) ?? []), ...hosts.map((host) => parseRule(host, false))])
}

/** What the project itself names: settings of package managers, lockfiles and remotes. One address per host. */
export async function findProjectAddresses(cwd: string): Promise<string[]> {
  return [
    ...settingsFiles.flatMap((name) => addressesIn(readPlainText(join(cwd, name)) ?? '')),
    ...Object.entries(lockfiles).flatMap(([name, pattern]) => addressesInLock(join(cwd, name), pattern)),
    ...(await remoteAddresses(cwd)),
  ]
}

/** What `registry` in `allow` stands for: the public registries of all package managers. */
export const publicRegistries = (): Rule[] =>
  registries.flatMap(([, hosts]) => hosts.map((host) => parseRule(host, false)))

const addressesIn = (text: string): string[] => text.match(/https?:\/\/[^\s"',|]+/g) ?? []

function addressesInLock(path: string, pattern: RegExp): string[] {
  if (!exists(path)) return []
  const text = (readTextSyncIfExists(path) ?? '').slice(0, maxLockfileBytes)
  // One of each host is enough: a lockfile has thousands of addresses.
  const found = new Map<string, string>()
  for (const [, address = ''] of text.matchAll(pattern)) found.set(address.split('/')[2] ?? '', address)
  return [...found.values()]
}

async function remoteAddresses(cwd: string): Promise<string[]> {
  const listed = await git({ cwd }, 'config', '--local', '--get-regexp', String.raw`^remote\..*\.(push)?url$`).catch(
    () => '',
  )
  return listed.split('\n').flatMap((line) => addressesIn(line))
}

function modelAddresses(home: string, env: Variables): string[] {
  const set = Object.entries(env).flatMap(([name, value]) => (baseUrlVariables.test(name) ? addressesIn(value) : []))
  const written = agentSettings.flatMap((name) => {
    const text = readTextSyncIfExists(join(home, name)) ?? ''
    return [...text.matchAll(/(?:base_?url|endpoint|api_base)["']?\s*[:=]\s*["']?(https?:\/\/[^\s"',]+)/gi)].map(
      ([, url = '']) => url,
    )
  })
  return [...set, ...written, ...codexHomeAddresses(env)]
}

const codexHomeAddresses = ({ CODEX_HOME, CLAUDE_CONFIG_DIR }: Variables): string[] =>
  [
    CODEX_HOME && join(CODEX_HOME, 'config.toml'),
    CLAUDE_CONFIG_DIR && join(CLAUDE_CONFIG_DIR, 'settings.json'),
  ].flatMap((path) =>
    path
      ? [...(readTextSyncIfExists(path) ?? '').matchAll(/base_?url["']?\s*[:=]\s*["']?(https?:\/\/[^\s"',]+)/gi)].map(
          ([, url = '']) => url,
        )
      : [],
  )

function hostsOfAgent(agent: string, env: Variables): string[] {
  const name = agent.replace(/^acp:/, '').split(/[\s:]/)[0] ?? ''
  const own = modelHosts[name] ?? Object.values(modelHosts).flat()
  const switched = providerVariables.flatMap(([variable, host]) =>
    Object.keys(env).some((each) => variable.test(each)) ? [host] : [],
  )
  return [...own, ...(name === 'opencode' ? Object.values(modelHosts).flat() : []), ...switched]
}

const dedupe = (rules: readonly Rule[]): Rule[] => [
  ...new Map(rules.map((rule) => [`${rule.host}:${rule.port ?? ''}:${rule.private}`, rule])).values(),
]
