import { basename, dirname, join, resolve } from 'node:path'
import { exists, isFile, readTextSyncIfExists } from '../../platform/files/files.ts'
import { isWithin } from '../../platform/files/paths.ts'

type Variables = Readonly<Record<string, string>>

/** Folders in which version managers keep the targets of their programs on PATH, relative to the home folder. */
const toolchains = [
  '.nvm .fnm .local/share/fnm .volta .nodenv .asdf .local/share/mise .pyenv .rye .local/share/uv/tools .local/share/uv/python',
  '.rustup .cargo/bin .rbenv .rvm .sdkman .jenv .jabba .goenv .deno .bun/bin .dotnet .ghcup .opam .juliaup .local/bin .local/lib',
  '.local/share/claude .local/share/pnpm go/bin sdk',
].flatMap((names) => names.split(' '))

/** Variables that name such a place. */
const toolchainVariables =
  'NVM_DIR PYENV_ROOT RUSTUP_HOME GOROOT JAVA_HOME VOLTA_HOME DOTNET_ROOT SDKMAN_DIR ASDF_DIR MISE_DATA_DIR RBENV_ROOT BUN_INSTALL DENO_INSTALL PNPM_HOME VIRTUAL_ENV CONDA_PREFIX'.split(
    ' ',
  )

/** Settings of package managers, shown without their secrets. */
const packageSettings =
  '.npmrc .yarnrc .yarnrc.yml .config/pip/pip.conf .pip/pip.conf .cargo/config.toml .bunfig.toml .condarc'.split(' ')

/** Never shown, not even to an agent whose project is the home folder. */
export const secrets = [
  '.ssh .gnupg .netrc .aws .azure .config/gcloud .config/gh .config/hub .config/op .docker .kube .password-store .vault-token',
  '.git-credentials .pgpass .my.cnf .mozilla .config/google-chrome .config/chromium .config/BraveSoftware .thunderbird .local/share/keyrings',
  '.terraform.d .config/rclone .config/sops .bash_history .zsh_history .node_repl_history .python_history .pypirc .cargo/credentials.toml',
].flatMap((names) => names.split(' '))

export type HomeView = {
  /** Whether they exist or not. */
  readonly readable: readonly string[]
  /** Replacement texts for files of the home folder, by relative path. */
  readonly files: Readonly<Record<string, string>>
}

/** The parts of the user's home folder that programs need: toolchains, git identity, registries. */
export function homeView(home: string, env: Variables, identity: string): HomeView {
  const named = toolchainVariables.flatMap((name) => (env[name] === undefined ? [] : [resolve(home, env[name])]))
  const standard = toolchains.map((path) => join(home, path))
  const kept = packageSettings.flatMap((name) => {
    const path = join(home, name)
    return isFile(path) ? [[name, withoutSecrets(readTextSyncIfExists(path) ?? '')] as const] : []
  })
  return {
    readable: [...named, ...standard],
    files: { '.gitconfig': identity, ...Object.fromEntries(kept) },
  }
}

/** Lines that look like a credential are left out, and names and passwords in addresses too. */
export const withoutSecrets = (text: string): string =>
  text
    .split('\n')
    .filter((line) => !/_auth|token|password|passwd|secret|credential|username|_key|:email/i.test(line))
    .join('\n')
    .replaceAll(/:\/\/[^/\s@"']+@/g, '://')

export type HomeLimits = { readonly home: string; readonly hidden: readonly string[] }

/** Folders of programs, with the folder around a `bin` that its links lead into. */
export function programFolders(folders: readonly string[], limits: HomeLimits): string[] {
  return [...new Set(folders)].flatMap((folder) => {
    const around = dirname(folder)
    const isTool = ['bin', 'sbin', 'shims', '.bin'].includes(basename(folder)) && isShowable(around, limits.hidden)
    if (!isShowable(folder, limits.hidden)) return []
    return [isTool && !isProject(around, limits.home) ? around : folder]
  })
}

const projectFiles = '.git .env package.json pyproject.toml Cargo.toml go.mod composer.json Gemfile'.split(' ')

/** Another project of the user, whose programs may be on PATH: only those are shown. */
const isProject = (folder: string, home: string): boolean =>
  isWithin(folder, home) && projectFiles.some((name) => exists(join(folder, name)))

/** A folder that contains the home, the project or Ralph's folder never counts as a folder of programs. */
const isShowable = (folder: string, hidden: readonly string[]): boolean =>
  !['/', '/tmp', '/var/tmp', '/var', '/home', '/etc'].includes(folder) &&
  !['.local', '.cargo', 'go', '.bun', '.config'].includes(basename(folder)) &&
  !hidden.some((path) => isWithin(path, folder))
