import { z } from 'zod'

/** What is known of a project without running anything. */
export type ProjectListing = {
  /** Paths of files, relative to the project, with `/`. */
  readonly files: readonly string[]
  /** The text of a file; undefined if it is not there. */
  readonly read: (name: string) => string | undefined
}

export type DetectedCheck = {
  readonly run: string
  /** The file that gave it away. */
  readonly because: string
}

/** The checks that a project obviously has, the one that people of the project would run first. */
export function detectChecks(project: ProjectListing): DetectedCheck[] {
  const found = detectors.flatMap((detect) => detect(project) ?? [])
  // A Makefile or justfile mostly calls what the manifests define, so it counts only if there are no manifests.
  return found.length > 0 ? found : taskFiles.flatMap((detect) => detect(project) ?? [])
}

type Detector = (project: ProjectListing) => DetectedCheck | undefined

const check = (run: string, because: string): DetectedCheck => ({ run, because })

const has = ({ files }: ProjectListing, ...names: readonly string[]): string | undefined =>
  names.find((name) => files.includes(name))

const matching = ({ files }: ProjectListing, pattern: RegExp): string | undefined =>
  files.find((file) => pattern.test(file) && !/(^|\/)(node_modules|vendor|target|\.venv|venv|\.git)\//.test(file))

const Manifest = z.object({
  scripts: z.record(z.string(), z.string()).optional(),
  packageManager: z.string().optional(),
  devDependencies: z.record(z.string(), z.unknown()).optional(),
})

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A test script that is not the placeholder of `npm init`. */
const detectNode: Detector = (project) => {
  const manifest = Manifest.safeParse(parseJson(project.read('package.json') ?? ''))
  if (!manifest.success) return undefined
  const { scripts = {}, packageManager = '' } = manifest.data
  const manager = packageManager.split('@')[0] || lockfiles.find(([file]) => has(project, file))?.[1] || 'npm'
  const script = scripts['test']
  // `bun test` is bun's own runner, whatever the script says.
  if (script && !script.includes('no test specified')) return check(managerTest[manager] ?? 'npm test', 'package.json')
  if (manager === 'bun' && matching(project, /\.(test|spec)\.[cm]?[jt]sx?$/)) return check('bun test', 'package.json')
  return undefined
}

const lockfiles = [
  ['package-lock.json', 'npm'],
  ['pnpm-lock.yaml', 'pnpm'],
  ['yarn.lock', 'yarn'],
  ['bun.lock', 'bun'],
  ['bun.lockb', 'bun'],
] as const

const managerTest: Readonly<Record<string, string>> = {
  npm: 'npm test',
  pnpm: 'pnpm test',
  yarn: 'yarn test',
  bun: 'bun run test',
}

const detectDeno: Detector = (project) => {
  const manifest = has(project, 'deno.json', 'deno.jsonc')
  if (!manifest) return undefined
  // Comments are allowed here, so the task is looked for in the text.
  if (/"tasks"\s*:\s*\{[^}]*"test"\s*:/.test(project.read(manifest) ?? '')) return check('deno task test', manifest)
  return matching(project, /(_test|\.test)\.[cm]?[jt]sx?$/) ? check('deno test', manifest) : undefined
}

const detectPython: Detector = (project) => {
  const configured = has(project, 'pytest.ini', '.pytest.ini', 'conftest.py') ?? pytestSettings(project)
  if (configured) return check('python3 -m pytest', configured)
  if (has(project, 'manage.py')) return check('python3 manage.py test', 'manage.py')
  const test = matching(project, /(^|\/)(test_\w+|\w+_test|tests)\.py$/)
  if (!test) return undefined
  const requires = ['requirements.txt', 'requirements-dev.txt', 'pyproject.toml', 'setup.cfg', 'tox.ini']
  const named = requires.find((name) => /\bpytest\b/.test(project.read(name) ?? ''))
  if (named ?? matching(project, /(^|\/)conftest\.py$/)) return check('python3 -m pytest', named ?? test)
  if (isPlainFunctions(project.read(test) ?? '')) return check('python3 -m pytest', test)
  return check(`python3 -m unittest discover${startFolder(project, test)}`, test)
}

/** Test functions outside of any class: unittest would run none of them. */
const isPlainFunctions = (text: string): boolean => /^(?:async )?def test_/m.test(text) && !/\bunittest\b/.test(text)

function pytestSettings({ read }: ProjectListing): string | undefined {
  const sections = { 'pyproject.toml': /^\[tool\.pytest/m, 'setup.cfg': /^\[tool:pytest\]/m, 'tox.ini': /^\[pytest\]/m }
  return Object.entries(sections).find(([name, section]) => section.test(read(name) ?? ''))?.[0]
}

/** unittest finds tests in folders only if these are packages; else the folder has to be named. */
function startFolder(project: ProjectListing, test: string): string {
  const [folder = '', ...rest] = test.split('/')
  return rest.length > 0 && !has(project, `${folder}/__init__.py`) ? ` -s ${folder}` : ''
}

const byFile =
  (run: string, ...names: readonly string[]): Detector =>
  (project) => {
    const name = has(project, ...names)
    return name === undefined ? undefined : check(run, name)
  }

const detectJava: Detector = (project) => {
  const pom = has(project, 'pom.xml')
  if (pom) return check(has(project, 'mvnw') ? './mvnw -q test' : 'mvn -q test', pom)
  const gradle = has(project, 'build.gradle', 'build.gradle.kts', 'settings.gradle', 'settings.gradle.kts')
  if (gradle) return check(has(project, 'gradlew') ? './gradlew test' : 'gradle test', gradle)
  return undefined
}

const detectRuby: Detector = (project) => {
  const prefix = has(project, 'Gemfile') ? 'bundle exec ' : ''
  const spec = has(project, '.rspec') ?? matching(project, /^spec\/.*_spec\.rb$/)
  if (spec) return check(`${prefix}rspec`, spec)
  const tasks = project.read('Rakefile') ?? ''
  return /TestTask|task[ (]+:test\b/.test(tasks) ? check(`${prefix}rake test`, 'Rakefile') : undefined
}

const Composer = z.object({ scripts: z.object({ test: z.unknown() }).optional() })

const detectPhp: Detector = (project) => {
  const composer = Composer.safeParse(parseJson(project.read('composer.json') ?? ''))
  if (composer.success && composer.data.scripts?.test !== undefined) return check('composer test', 'composer.json')
  const settings = has(project, 'phpunit.xml', 'phpunit.xml.dist')
  if (settings) return check(has(project, 'composer.json') ? 'vendor/bin/phpunit' : 'phpunit', settings)
  return undefined
}

const detectDotnet: Detector = (project) => {
  const solution = matching(project, /^[^/]+\.(slnx?|csproj|fsproj)$/)
  return solution ? check('dotnet test', solution) : undefined
}

const detectors: readonly Detector[] = [
  detectNode,
  detectDeno,
  byFile('cargo test', 'Cargo.toml'),
  byFile('go test ./...', 'go.mod'),
  detectPython,
  detectJava,
  detectRuby,
  byFile('mix test', 'mix.exs'),
  detectPhp,
  detectDotnet,
]

/** A target `test` or `check`; not a variable of that name. */
const targetIn = (text: string): string | undefined =>
  ['test', 'check'].find((target) => new RegExp(`^${target}(?:[ \\t]+[^:=\\n]*)?:(?!=|:=)`, 'm').test(text))

const taskFile =
  (program: string, names: readonly string[]): Detector =>
  (project) => {
    const name = names.find((file) => targetIn(project.read(file) ?? '') !== undefined)
    return name === undefined ? undefined : check(`${program} ${targetIn(project.read(name) ?? '')}`, name)
  }

const taskFiles: readonly Detector[] = [
  taskFile('make', ['GNUmakefile', 'makefile', 'Makefile']),
  taskFile('just', ['justfile', 'Justfile']),
]
