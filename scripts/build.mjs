// `npm run build`: builds every layer into dist (types, the library, what tests import), then the programs that users start into bin,
// then the page into dist/web, and the empty database for `ralph serve`.
// Usage: node scripts/build.mjs [project...], where a project is a folder with a tsconfig.json; default: all of them.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'
import { buildPage } from './build-page.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const bin = join(root, 'bin')

/**
 * Every program, by its file in bin. As deep as in dist, so that `../../assets` and `../<program>/main.js` work in both.
 * `ralph` is CommonJS because Node 20 can cache compiled code only for that (src/platform/compile-cache.ts).
 */
const programs = {
  cjs: { 'cli/main': 'src/cli/start.ts', 'cli/ralph': 'src/cli/main.ts' },
  js: { 'acp-bridge/main': 'src/acp-bridge/main.ts', 'scripted-agent/main': 'src/scripted-agent/main.ts' },
}

/** Bundled into the programs, because they need it at their start. All other dependencies stay packages: native, big or rarely used. */
const bundled = [
  'zod',
  'yaml',
  '@agentclientprotocol/sdk',
  '@modelcontextprotocol/sdk',
  'drizzle-orm',
  'pg',
  '@dbos-inc/dbos-sdk',
  '@peculiar/x509',
  // Shares reflect-metadata with x509: a second copy of it throws.
  '@simplewebauthn/server',
  'hono',
  '@hono/node-server',
  'ws',
]

/** Optional dependencies of packages, which Ralph does not use. */
const optional = /^(@opentelemetry\/|winston|@dbos-inc\/dbos-enterprise|pg-native$|bufferutil$|utf-8-validate$)/

/** What `--version` needs, and what all commands need that read a sprint, in few files. The rest is split by command. */
const groups = [
  // The entry reads it before the cache of compiled code is open, so nothing else may come with it.
  { name: 'home', test: /src[\\/]platform[\\/]ralph-home\.ts$/, priority: 3 },
  {
    name: 'start',
    test: /src[\\/](cli[\\/](commands|io[\\/](assets|exit-code|io|paint))|contract[\\/](errors|text))\.ts$/,
    priority: 2,
  },
  { name: 'zod', test: /node_modules[\\/]zod[\\/]/, priority: 2 },
  { name: 'sprint', test: /src[\\/]cli[\\/]commands[\\/]status\.ts$/, priority: 1 },
  { name: 'run', test: /src[\\/]cli[\\/]run[\\/]run-in-terminal\.ts$/, priority: 0 },
]

typeCheck(process.argv.slice(2))
const database = spawn(process.execPath, ['--liftoff-only', join(root, 'scripts/make-database.mjs')], {
  stdio: 'inherit',
})
const isMade = once(database, 'exit')
const files = [...(await bundle('cjs')), ...(await bundle('js'))]
put(bin, new Map(files))
chmodSync(join(bin, 'cli/main.cjs'), 0o755)
if (process.argv.length === 2) await buildPage()
// A killed process has no code.
const [code] = await isMade
if (code !== 0) process.exitCode = code ?? 1

function typeCheck(projects) {
  const tsc = join(root, 'node_modules/typescript/bin/tsc')
  const { status } = spawnSync(process.execPath, [tsc, '-b', ...projects], { cwd: root, stdio: 'inherit' })
  if (status !== 0) process.exit(status ?? 1)
}

async function bundle(extension) {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const packages = Object.keys(dependencies).filter((name) => !bundled.includes(name))
  const build = await rolldown({
    cwd: root,
    input: programs[extension],
    platform: 'node',
    external: (id) =>
      id.startsWith('node:') || optional.test(id) || packages.some((name) => id === name || id.startsWith(`${name}/`)),
    checks: { ineffectiveDynamicImport: false },
  })
  const { output } = await build.generate({
    format: extension === 'cjs' ? 'cjs' : 'esm',
    entryFileNames: `[name].${extension}`,
    chunkFileNames: `parts/[name].${extension}`,
    codeSplitting: { groups },
    // Minified whitespace loads faster; names stay, for stack traces. A checkout also gets source maps.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    sourcemap: true,
  })
  await build.close()
  return output.map((file) => [file.fileName, file.type === 'chunk' ? finish(file.code, extension) : file.source])
}

function finish(code, extension) {
  return extension === 'cjs' ? escapeNonAscii(imports(code)) : code
}

/** V8 keeps ASCII source in half the memory, and Node reads it faster. Every non-ASCII character of ours is in a text, never in String.raw. */
function escapeNonAscii(code) {
  return code.replace(/[^\0-\x7f]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

/** Code from the compile cache cannot import by itself (src/platform/compile-cache.ts): start.ts imports for it. */
function imports(code) {
  return code.replace(/\bimport\((?=["'`])/g, 'importPackage(')
}

/** Writes only changed files, each atomically: the programs may be running. */
function put(folder, files) {
  for (const [name, text] of files) {
    const path = join(folder, name)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.${process.pid}`, text)
    renameSync(`${path}.${process.pid}`, path)
  }
  for (const name of readdirSync(folder, { recursive: true })) {
    if (/\.(cjs|js|json|map)$/.test(name) && !files.has(name)) rmSync(join(folder, name), { force: true })
  }
}
