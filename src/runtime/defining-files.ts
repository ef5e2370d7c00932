/** Files that define what a known command does, besides those on its command line. */
const configurations: readonly { readonly command: RegExp; readonly files: readonly string[] }[] = [
  { command: /\b(?:npm|pnpm|yarn|bun)\b/, files: ['package.json'] },
  {
    command: /\b(?:npm|npx|pnpm|yarn|bunx?|vitest)\b/,
    files: ['vitest.config.ts', 'vitest.config.js', 'vitest.config.mjs'],
  },
  {
    command: /\b(?:npm|npx|pnpm|yarn|bunx?|jest)\b/,
    files: ['jest.config.ts', 'jest.config.js', 'jest.config.mjs', 'jest.config.cjs'],
  },
  { command: /\b(?:npm|npx|pnpm|yarn|bunx?|mocha)\b/, files: ['.mocharc.json', '.mocharc.yml', '.mocharc.cjs'] },
  { command: /\btsc\b/, files: ['tsconfig.json'] },
  {
    command: /\bpytest\b|\btox\b|\bnox\b/,
    files: ['pytest.ini', 'pyproject.toml', 'setup.cfg', 'tox.ini', 'conftest.py', 'noxfile.py'],
  },
  { command: /\bmake\b/, files: ['Makefile', 'makefile', 'GNUmakefile'] },
  { command: /\bcargo\b/, files: ['Cargo.toml'] },
  { command: /\bgo\b/, files: ['go.mod'] },
  { command: /\bmvn\b/, files: ['pom.xml'] },
  { command: /\bgradlew?\b/, files: ['build.gradle', 'build.gradle.kts'] },
]

/** Returns the project files that define a check: scripts named in its command, and the configuration of its runner. */
export function listDefiningFiles(command: string, isFile: (name: string) => boolean): string[] {
  const named = command.split(/[\s;&|()<>"'`$]+/).map((word) => word.replace(/^\.\//, ''))
  const known = configurations.filter((row) => row.command.test(command)).flatMap((row) => row.files)
  const candidates = [
    ...named.filter((word) => word !== '' && !word.startsWith('-') && !word.startsWith('/') && !word.includes('..')),
    ...known,
  ]
  return [...new Set(candidates)].filter((name) => isFile(name))
}
