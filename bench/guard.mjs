// Compares the sturdy figures with those of bench/baseline.json: none may be more than twice as large. Under a minute.
// Usage: npm run bench:guard [-- --write]     --write makes what is measured now the baseline
import { readFileSync, writeFileSync } from 'node:fs'
import { measure as compile } from './compile.mjs'
import { measure as overhead } from './overhead.mjs'
import { measure as parse } from './parse.mjs'
import { measure as start } from './start.mjs'

const tolerance = 2
const file = new URL('baseline.json', import.meta.url)
const rows = [
  ...(await start({ rounds: 4 })),
  ...(await overhead({ iterations: 100, rounds: 1 })),
  ...(await parse({ megabytes: 24 })),
  ...(await compile()),
].filter(({ sturdy }) => sturdy)

if (process.argv.includes('--write')) {
  writeFileSync(
    file,
    `${JSON.stringify(Object.fromEntries(rows.map(({ name, value }) => [name, value])), undefined, 2)}\n`,
  )
}
const baseline = JSON.parse(readFileSync(file, 'utf8'))
const worse = rows.filter(({ name, value }) => !(value <= baseline[name] * tolerance))
const missing = Object.keys(baseline).filter((name) => !rows.some((row) => row.name === name))
for (const { name, value, unit } of rows)
  console.log(
    `${worse.some((row) => row.name === name) ? '✗' : '✓'} ${name}: ${value} ${unit}, baseline ${baseline[name]}`,
  )
for (const name of missing) console.log(`✗ ${name}: no longer measured`)
process.exitCode = worse.length + missing.length === 0 ? 0 : 1
