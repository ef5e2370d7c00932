// Builds the page from src/web into dist/web, unless it is newer than all its sources.
import { readdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const page = join(root, 'dist/web')
const sources = ['src/web', 'src/client', 'src/contract', 'src/words', 'package-lock.json']

export async function buildPage() {
  if (newest(sources.map((path) => join(root, path))) < newestTime(join(page, 'index.html'))) return
  // Also when tests build it, the page must be the production build that users get, not React's slow development build.
  process.env.NODE_ENV = 'production'
  const { build } = await import('vite')
  const fresh = join(root, `dist/.web-${process.pid}`)
  await build({
    configFile: join(root, 'src/web/vite.config.ts'),
    logLevel: 'warn',
    build: { outDir: fresh },
  })
  replace(page, fresh)
}

/** Atomically: a browser may be loading the page. */
function replace(folder, fresh) {
  const old = join(dirname(folder), `.web-old-${process.pid}`)
  try {
    renameSync(folder, old)
  } catch (error) {
    if (error.code !== 'ENOENT') throw error
  }
  renameSync(fresh, folder)
  rmSync(old, { recursive: true, force: true })
}

function newest(paths) {
  let last = 0
  for (const path of paths) {
    last = Math.max(last, newestTime(path))
    if (!statSync(path).isDirectory()) continue
    for (const name of readdirSync(path, { recursive: true }))
      if (!name.endsWith('.test.ts')) last = Math.max(last, newestTime(join(path, name)))
  }
  return last
}

function newestTime(path) {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await buildPage()
