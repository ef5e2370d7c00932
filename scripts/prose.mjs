// The prose check of the docs: words that readers do not search for, long sentences and table cells, passive voice, reading grade, length.
// Usage: node scripts/prose.mjs [--check] [--root DIR]     without --check: prints the figures of every page
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { examinePage, isGenerated, limits, summarize } from './prose/rules.mjs'

const option = process.argv.indexOf('--root')
const root = option === -1 ? fileURLToPath(new URL('..', import.meta.url)) : process.argv[option + 1]

const files = ['README.md', 'CHANGELOG.md', 'SECURITY.md', ...markdownIn('docs'), ...markdownIn('plugin')]
const pages = files.map((path) => {
  const text = readFileSync(join(root, path), 'utf8')
  return { path, generated: isGenerated(path, text), ...examinePage(path, text) }
})
const all = summarize(pages)
const problems = [...pages.flatMap((page) => page.problems), ...all.problems]

if (process.argv.includes('--check')) {
  for (const { path, line, rule, text } of problems) console.error(`${path}:${line} ${rule}: ${text}`)
} else {
  for (const { path, words, passive, grade, generated } of pages) {
    if (!generated)
      console.log(`${path.padEnd(52)} ${String(words).padStart(6)} words  ${percent(passive)} passive  grade ${grade}`)
  }
}
console.log(
  `prose: ${all.words} words written by hand in docs (at most ${limits.words}), ${percent(all.passive)} passive sentences (at most ${percent(limits.passive)}), reading grade ${all.grade} (at most ${limits.grade}), ${problems.length} problems`,
)
process.exitCode = process.argv.includes('--check') && problems.length > 0 ? 1 : 0

function markdownIn(folder) {
  return readdirSync(join(root, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .toSorted()
}

function percent(share) {
  return `${(share * 100).toFixed(1)} %`
}
