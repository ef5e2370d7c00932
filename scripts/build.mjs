// `npm run build`: every layer into dist (types, the library, what tests import), then the programs that people start into bin,
// then the page into dist/web. Beside that the empty database for `ralph serve`.
// Usage: node scripts/build.mjs [project...], where a project is a folder with a tsconfig.json; all of them if none is given.
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
 * Every program, by its file in bin. As deep as in dist, so that `../../assets` and `../<program>/main.js` hold in both.
 * `ralph` is CommonJS because Node 20 can keep only that in compiled form (src/platform/compile-cache.ts).
 */
const programs = {
  cjs: { 'cli/main': 'src/cli/start.ts', 'cli/ralph': 'src/cli/main.ts' },
  js: { 'acp-bridge/main': 'src/acp-bridge/main.ts', 'scripted-agent/main': 'src/scripted-agent/main.ts' },
}

/** Put into the programs, because they need it at their start. All other dependencies stay packages: native, big or rarely needed. */
const bundled = [
  'zod',
  'yaml',
  '@agentclientprotocol/sdk',
  '@modelcontextprotocol/sdk',
  'drizzle-orm',
  'pg',
  '@dbos-inc/dbos-sdk',
  '@peculiar/x509',
  'hono',
  '@hono/node-server',
  'ws',
]

/** What packages would use if it were there: none of it is ours. */
const optional = /^(@opentelemetry\/|winston|@dbos-inc\/dbos-enterprise|pg-native$|bufferutil$|utf-8-validate$)/

/** What `--version` needs, and what all commands need that look at a sprint, in few files. The rest is split by command. */
const groups = [
  { name: 'start', test: /src[\\/](cli[\\/](assets|commands|io)|contract[\\/](errors|nearest))\.ts$/, priority: 2 },
  { name: 'zod', test: /node_modules[\\/]zod[\\/]/, priority: 2 },
  { name: 'sprint', test: /src[\\/]cli[\\/]commands[\\/]status\.ts$/, priority: 1 },
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
// One that was killed has no code.
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
    // Without blanks it is read faster; names stay, for stack traces. In a checkout there are maps too.
    minify: { compress: false, mangle: false, codegen: { removeWhitespace: true } },
    sourcemap: true,
  })
  await build.close()
  return output.map((file) => [file.fileName, file.type === 'chunk' ? imports(file.code, extension) : file.source])
}

/** Code that is kept in compiled form cannot import by itself (src/platform/compile-cache.ts): start.ts does it for all of it. */
function imports(code, extension) {
  return extension === 'cjs' ? code.replace(/\bimport\((?=["'`])/g, 'importPackage(') : code
}

/** Only what has changed, each file at once: somebody may be running the programs. */
function put(folder, wanted) {
  for (const [name, text] of wanted) {
    const path = join(folder, name)
    if (existsSync(path) && readFileSync(path, 'utf8') === text) continue
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(`${path}.${process.pid}`, text)
    renameSync(`${path}.${process.pid}`, path)
  }
  for (const name of readdirSync(folder, { recursive: true })) {
    if (/\.(cjs|js|json|map)$/.test(name) && !wanted.has(name)) rmSync(join(folder, name), { force: true })
  }
}
