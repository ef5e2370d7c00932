// node scripts/release-notes.mjs <version>: prints the part of CHANGELOG.md for that version; fails if there is none.
import { readFileSync } from 'node:fs'

const version = process.argv[2] ?? ''
const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8')
const parts = changelog.split(/^## /m).slice(1)
const found = parts.find((part) => part.startsWith(`[${version}]`))
if (version === '' || found === undefined) {
  console.error(
    `CHANGELOG.md has no part "## [${version}]"; there are: ${parts.map((part) => part.split('\n')[0]).join(', ')}`,
  )
  process.exit(1)
}
console.log(found.split('\n').slice(1).join('\n').trim())
