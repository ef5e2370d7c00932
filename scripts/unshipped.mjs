// Writes dist/.npmignore: the modules that users cannot import from the package. `npm pack` runs it. The programs in bin/ are bundles, so of dist/ the
// package needs the page, and the modules and types behind its exports.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const needed = new Set()
for (const entry of Object.values(exports)) {
  if (typeof entry === 'object') for (const path of Object.values(entry)) visit(join(root, path))
}
const dist = join(root, 'dist')
const unneeded = readdirSync(dist, { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))
  .filter((path) => !needed.has(path) && (!path.startsWith(join(dist, 'web/')) || path.endsWith('.d.ts')))
  .map((path) => path.slice(dist.length))
writeFileSync(join(dist, '.npmignore'), `${unneeded.toSorted().join('\n')}\n`)

function visit(path) {
  if (needed.has(path) || !existsSync(path)) return
  needed.add(path)
  for (const [, name] of readFileSync(path, 'utf8').matchAll(/(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g)) {
    const target = join(dirname(path), name)
    visit(path.endsWith('.d.ts') ? target.replace(/(\.d)?\.[jt]s$/, '.d.ts') : target)
  }
}
