import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'

/** Which layer may import which. The references in the tsconfig files and the table in AGENTS.md match it. */
const table: Readonly<Record<string, readonly string[]>> = {
  contract: [],
  words: ['contract'],
  compiler: ['contract'],
  loop: ['contract'],
  platform: ['contract'],
  telemetry: ['contract'],
  runtime: ['contract', 'loop'],
  agents: ['contract', 'platform', 'runtime'],
  storage: ['contract', 'platform', 'runtime'],
  doctor: ['contract', 'loop', 'platform', 'runtime', 'storage'],
  proof: ['contract', 'platform', 'runtime', 'agents'],
  host: ['contract', 'loop', 'platform', 'runtime', 'agents', 'storage'],
  'scripted-agent': ['contract', 'platform'],
  'acp-bridge': ['contract', 'platform'],
  connection: ['contract', 'platform'],
  backend: ['contract', 'compiler', 'loop', 'platform', 'telemetry', 'runtime', 'connection'],
  'agents-server': ['contract', 'loop', 'platform', 'telemetry', 'runtime', 'agents', 'storage', 'host', 'connection'],
  client: ['contract'],
  web: ['contract', 'words', 'client'],
  cli: [
    'contract',
    'words',
    'compiler',
    'loop',
    'platform',
    'telemetry',
    'runtime',
    'agents',
    'storage',
    'doctor',
    'proof',
    'host',
    'connection',
    'backend',
    'agents-server',
    'client',
  ],
}
const layers = Object.keys(table)
const pureLayers = ['contract', 'words', 'compiler', 'loop']
/** Layers that also run in a browser: no Node there, and the page's packages are bundled. */
const browserLayers = ['client', 'web']

const project = fileURLToPath(new URL('..', import.meta.url))
const skeleton = mkdtempSync(join(tmpdir(), 'ralph-architecture-'))
afterAll(() => rmSync(skeleton, { recursive: true, force: true }))

/**
 * Creates a tree with the real configuration, in which every layer imports every other one. Values and types come from
 * different files, because the compiler reports each forbidden file only once.
 */
beforeAll(() => {
  for (const file of ['package.json', 'tsconfig.base.json', '.oxlintrc.json']) put(file, read(file))
  symlinkSync(join(project, 'node_modules'), join(skeleton, 'node_modules'))
  for (const layer of layers) {
    put(`src/${layer}/tsconfig.json`, read(`src/${layer}/tsconfig.json`))
    put(`src/${layer}/value.ts`, `export const value = '${layer}'\n`)
    put(`src/${layer}/type.ts`, `export type Type = '${layer}'\n`)
    for (const other of others(layer)) {
      put(
        `src/${layer}/value-of-${other}.ts`,
        `import { value } from '../${other}/value.ts'\nexport const seen = value\n`,
      )
      put(
        `src/${layer}/type-of-${other}.ts`,
        `import type { Type } from '../${other}/type.ts'\nexport type Seen = Type\n`,
      )
    }
  }
})

describe('the import table', () => {
  it('has a row for every folder of src', () => {
    const folders = readdirSync(join(project, 'src'), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    expect(layers.toSorted()).toEqual(folders.map(({ name }) => name).toSorted())
  })

  it.each(layers)('matches the references in src/%s/tsconfig.json', (layer) => {
    expect(readReferences(`src/${layer}`)).toEqual(table[layer]?.map((other) => `src/${other}`))
  })

  it('is complete in the projects that build and test everything', () => {
    const all = layers.map((layer) => `src/${layer}`)
    expect(readReferences('.')).toEqual([...all, 'src', 'test'])
    expect(readReferences('test')).toEqual([...all, 'src'])
  })

  it('is in AGENTS.md', () => {
    const rows = read('AGENTS.md').matchAll(/^\| `src\/(.+?)` +\| (.*?) +\|/gm)
    const written = [...rows].map(([, layer = '', others = '']) => [layer, others.match(/[a-z-]+/g) ?? []])
    expect(Object.fromEntries(written)).toEqual(table)
  })
})

describe('the compiler', () => {
  let complaints: readonly Complaint[]
  beforeAll(async () => {
    for (const layer of layers) put(`src/${layer}/node-globals.ts`, usesOfNode.join('\n'))
    complaints = await tsc()
  }, 60_000)

  const refusedBy = (layer: string, kind: 'value' | 'type') =>
    others(layer).filter((other) =>
      complaints.some(({ file, code }) => file === `src/${layer}/${kind}-of-${other}.ts` && code === 'TS6307'),
    )

  it.each(layers)('refuses imports of values and types that %s must not have, and no others', (layer) => {
    const refused = others(layer).filter((other) => !reachable(layer).includes(other))
    expect({ values: refusedBy(layer, 'value'), types: refusedBy(layer, 'type') }).toEqual({
      values: refused,
      types: refused,
    })
  })

  it.each(pureLayers)('has no Node types in %s', (layer) => {
    const found = complaints.filter(({ file }) => file === `src/${layer}/node-globals.ts`)
    expect(found.map(({ line, code }) => ({ line, code }))).toEqual([
      { line: 3, code: 'TS2591' },
      { line: 4, code: 'TS2591' },
      { line: 5, code: 'TS2591' },
      { line: 6, code: 'TS2304' },
      { line: 7, code: 'TS2304' },
    ])
  })

  it.each(browserLayers)('has no Node types in %s', (layer) => {
    const found = complaints.filter(({ file }) => file === `src/${layer}/node-globals.ts`)
    expect(found.map(({ line, code }) => ({ line, code }))).toEqual([
      { line: 3, code: 'TS2591' },
      { line: 4, code: 'TS2591' },
      { line: 5, code: 'TS2591' },
    ])
  })

  it('reports nothing else', () => {
    const expected = /^src\/(.*\/(value|type)-of-.*|(contract|words|compiler|loop|client|web)\/node-globals)\.ts$/
    expect(complaints.filter(({ file }) => !expected.test(file))).toEqual([])
  })
})

/** The packages of the pure layers come first: their types must not pull in Node's. */
const usesOfNode = [
  `import { z } from 'zod'`,
  `import { parse } from 'yaml'`,
  `import { readFileSync } from 'node:fs'`,
  `export const used = [z, parse, readFileSync, process.pid]`,
  `export const bytes = Buffer.from('')`,
  `export const timer = setInterval`,
  `export const now = performance.now()`,
]

describe('the sources', () => {
  it('import nothing that the table forbids', () => {
    expect(wrongImports(project)).toEqual([])
  })

  it('are checked, also where the compiler follows references of references', () => {
    const wrong = layers.flatMap((layer) =>
      others(layer)
        .filter((other) => !table[layer]?.includes(other))
        .flatMap((other) => [`src/${layer}/type-of-${other}.ts`, `src/${layer}/value-of-${other}.ts`]),
    )
    expect(wrongImports(skeleton).map(({ file }) => file)).toEqual(wrong.toSorted())
  })

  it('are checked for Node imports without a prefix, and for undeclared packages', () => {
    put('src/cli/bare.ts', `import { readFileSync } from 'fs'\nexport const read = readFileSync\n`)
    put('src/cli/lazy.ts', `export const load = () => import('left-pad')\n`)
    const found = wrongImports(skeleton).filter(({ file }) => /bare|lazy/.test(file))
    rmSync(join(skeleton, 'src/cli/bare.ts'))
    rmSync(join(skeleton, 'src/cli/lazy.ts'))
    expect(found).toEqual([
      { file: 'src/cli/bare.ts', imports: 'fs' },
      { file: 'src/cli/lazy.ts', imports: 'left-pad' },
    ])
  })
})

describe('the linter', () => {
  let found: readonly string[]
  beforeAll(async () => {
    const probes = [...violations, ...allowed]
    for (const { file, text } of probes) put(file, text)
    found = await oxlint(probes.map(({ file }) => file))
  }, 60_000)

  it.each(violations)('$rule refuses $file', ({ rule, file }) => {
    expect(found).toContain(`${file} ${rule}`)
  })

  it('refuses nothing else: the same code is allowed where it belongs', () => {
    expect(found).toEqual(violations.map(({ file, rule }) => `${file} ${rule}`).toSorted())
  })
})

type Probe = { readonly file: string; readonly text: string }
type Violation = Probe & { readonly rule: string }

const lines = (count: number, line: (n: number) => string): string =>
  Array.from({ length: count }, (_, n) => line(n)).join('\n')

const moduleNames = ['node:fs', 'node:fs/promises', 'node:child_process']

const importStatement = (name: string): string => `export * as it from '${name}'\n`

const globals = [
  ['date', 'export const now = () => Date.now()'],
  ['math', 'export const half = (n: number) => Math.round(n / 2)'],
  ['timer', 'export const wait = (then: () => void) => setTimeout(then, 1)'],
  ['console', "export const shout = () => console.log('!')"],
] as const

/** Formatting a number needs rounding. */
const globalsWithoutMath = globals.filter(([name]) => name !== 'math')

/** One file per rule and place. Each breaks only its own rule. */
const violations: readonly Violation[] = [
  ...layers
    .filter((layer) => layer !== 'platform')
    .flatMap((layer) =>
      moduleNames.map((name, n) => ({
        rule: 'eslint(no-restricted-imports)',
        file: `src/${layer}/import-${n}.ts`,
        text: importStatement(name),
      })),
    ),
  ...pureLayers.flatMap((layer) =>
    (layer === 'words' ? globalsWithoutMath : globals).map(([name, text]) => ({
      rule: 'eslint(no-restricted-globals)',
      file: `src/${layer}/use-${name}.ts`,
      text,
    })),
  ),
  {
    rule: 'eslint(no-restricted-imports)',
    file: 'src/backend/import-internal.ts',
    text: importStatement('@dbos-inc/dbos-sdk/internal/dbos-executor'),
  },
  {
    rule: 'import(no-cycle)',
    file: 'src/runtime/tick.ts',
    text: `import { tock } from './tock.ts'\nexport const tick = (): string => tock()`,
  },
  {
    rule: 'import(no-cycle)',
    file: 'src/runtime/tock.ts',
    text: `import { tick } from './tick.ts'\nexport const tock = (): string => tick()`,
  },
  { rule: 'import(no-default-export)', file: 'src/cli/default.ts', text: 'export default 1' },
  {
    rule: 'eslint(max-lines)',
    file: 'src/cli/long.ts',
    text: lines(401, (n) => `export const a${n} = ${n}`),
  },
  {
    rule: 'eslint(max-lines-per-function)',
    file: 'src/cli/long-function.ts',
    text: `export function long(): number[] {\n  const all: number[] = []\n${lines(60, (n) => `  all.push(${n})`)}\n  return all\n}`,
  },
  {
    rule: 'eslint(max-params)',
    file: 'src/cli/many-parameters.ts',
    text: 'export const list = (a: 1, b: 2, c: 3, d: 4, e: 5): number[] => [a, b, c, d, e]',
  },
  { rule: 'unicorn(filename-case)', file: 'src/cli/camelCase.ts', text: 'export const name = 1' },
  {
    rule: 'typescript(no-floating-promises)',
    file: 'src/cli/floating.ts',
    text: 'const save = async (): Promise<void> => {}\nexport function stop(): void {\n  save()\n}',
  },
  {
    rule: 'typescript(no-misused-promises)',
    file: 'src/cli/misused.ts',
    text: `const isThere = async (): Promise<boolean> => true\nexport const answer = (): string => (isThere() ? 'yes' : 'no')`,
  },
  {
    rule: 'typescript(no-explicit-any)',
    file: 'src/cli/any.ts',
    text: 'export const anything = (value: any): any[] => [value]',
  },
  {
    rule: 'typescript(switch-exhaustiveness-check)',
    file: 'src/cli/open-switch.ts',
    text: `export function sizeOf(mode: 'small' | 'large'): number {\n  switch (mode) {\n    case 'small':\n      return 1\n  }\n  return 2\n}`,
  },
  {
    rule: 'typescript(consistent-type-imports)',
    file: 'src/cli/type-import.ts',
    text: `import { Type } from './type.ts'\nexport const same = (value: Type): Type => value`,
  },
]

const allowed: readonly Probe[] = [
  ...moduleNames.map((name, n) => ({ file: `src/platform/import-${n}.ts`, text: importStatement(name) })),
  ...globals.map(([name, text]) => ({ file: `src/platform/use-${name}.ts`, text })),
  { file: 'src/cli/default.config.ts', text: 'export default 1' },
  { file: 'src/cli/just-long-enough.ts', text: lines(400, (n) => `export const a${n} = ${n}`) },
]

function put(file: string, text: string): void {
  mkdirSync(dirname(join(skeleton, file)), { recursive: true })
  writeFileSync(join(skeleton, file), text)
}

const read = (file: string): string => readFileSync(join(project, file), 'utf8')

const others = (layer: string): string[] => layers.filter((other) => other !== layer)

/** The compiler also lets a layer import what its references refer to. */
const reachable = (layer: string): string[] => [
  ...new Set((table[layer] ?? []).flatMap((other) => [other, ...reachable(other)])),
]

function readReferences(folder: string): string[] {
  const Project = z.object({ references: z.array(z.object({ path: z.string() })) })
  const { references } = Project.parse(JSON.parse(read(`${folder}/tsconfig.json`)))
  return references.map(({ path }) => join(folder, path))
}

type Complaint = { readonly file: string; readonly line: number; readonly code: string }

async function tsc(): Promise<Complaint[]> {
  const output = await run('tsc', '-b', '--pretty', 'false', ...layers.map((layer) => `src/${layer}`))
  const found = output.matchAll(/^(\S+)\((\d+),\d+\): error (TS\d+)/gm)
  return [...found].map(([, file = '', line, code = '']) => ({ file, line: Number(line), code }))
}

/** Every refusal as `file rule`, once, sorted. */
async function oxlint(files: readonly string[]): Promise<string[]> {
  const Output = z.object({ diagnostics: z.array(z.object({ filename: z.string(), code: z.string() })) })
  const output = await run('oxlint', '--type-aware', '--format=json', ...files)
  const { diagnostics } = Output.parse(JSON.parse(output))
  return [...new Set(diagnostics.map(({ filename, code }) => `${filename} ${code}`))].toSorted()
}

/** Returns the output of a program that is expected to fail. */
function run(program: string, ...args: readonly string[]): Promise<string> {
  const file = join(project, 'node_modules', '.bin', program)
  return new Promise((resolve, reject) => {
    execFile(file, args, { cwd: skeleton, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error && stdout === '') reject(new Error(`${program}: ${stderr || error.message}`))
      else resolve(stdout)
    })
  })
}

type Import = { readonly file: string; readonly imports: string }

/** Imports that break the table: other layers, unprefixed Node modules, undeclared packages. */
function wrongImports(root: string): Import[] {
  const packages = z.record(z.string(), z.string())
  const Package = z.object({ dependencies: packages, devDependencies: packages })
  const { dependencies, devDependencies } = Package.parse(JSON.parse(read('package.json')))
  const sources = readdirSync(join(root, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((file) => /\/.*(?<!\.test)\.tsx?$/.test(file))
    .map((file) => join('src', file))
    .toSorted()
  return sources.flatMap((file) =>
    listImports(readFileSync(join(root, file), 'utf8'))
      .filter(
        (name) =>
          !isAllowed(
            file,
            name,
            Object.keys(file.startsWith('src/web/') ? { ...dependencies, ...devDependencies } : dependencies),
          ),
      )
      .map((imports) => ({ file, imports })),
  )
}

const listImports = (text: string): string[] =>
  [...text.matchAll(/(?:^import |\bfrom |\bimport\()'([^'\n]+)'/gm)].map(([, name = '']) => name)

function isAllowed(file: string, name: string, dependencies: readonly string[]): boolean {
  const [, layer = ''] = file.split('/')
  if (name.startsWith('.')) {
    const [, target = ''] = join(dirname(file), name).split('/')
    return target === layer || table[layer]?.includes(target) === true
  }
  if (name.startsWith('node:')) return builtinModules.includes(name.slice('node:'.length))
  return dependencies.some((dependency) => name === dependency || name.startsWith(`${dependency}/`))
}
