// Different commands write parts of docs/benchmarks.md; each leaves the parts of the others as they are.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const file = join(root, 'docs/benchmarks.md')

/** Puts the text between the two markers of this part. */
export function writePart(name, text) {
  writeFileSync(file, withPart(readFileSync(file, 'utf8'), name, text))
  execFileSync(process.execPath, [join(root, 'node_modules/oxfmt/bin/oxfmt'), file], { stdio: 'ignore' })
}

export function withPart(page, name, text) {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`the page has no "${begin}" with its end`)
  return `${page.slice(0, from + begin.length)}\n\n${text.trim()}\n\n${page.slice(to)}`
}

export function today() {
  return new Date().toISOString().slice(0, 10)
}

export function versions() {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  return `Ralph Mode ${version}`
}
