// Compares the robust figures with bench/baseline.json: none may be much larger. Half a minute.
// Usage: npm run bench:guard [-- --write] [-- --only start,compile] [-- --baseline FILE] [-- --iterations 200] [-- --rounds 3]
//   --write makes the current measurement the baseline: use a quiet machine
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { measure as compile } from './compile.mjs'
import { measureGrowth as history } from './flatness.mjs'
import { measure as overhead } from './overhead.mjs'
import { measure as parse } from './parse.mjs'
import { measure as start } from './start.mjs'

/** Wide: a busy machine must not fail a change. */
const tolerance = 2.5

const parts = {
  start: () => start({ rounds: 4 }),
  overhead: () => overhead({ iterations: Number(values.iterations), rounds: Number(values.rounds), withDisk: false }),
  history,
  parse: () => parse({ megabytes: 16 }),
  compile: () => compile(),
}

const { values } = parseArgs({
  options: {
    write: { type: 'boolean', default: false },
    only: { type: 'string', default: Object.keys(parts).join() },
    iterations: { type: 'string', default: '200' },
    rounds: { type: 'string', default: '3' },
    baseline: { type: 'string', default: fileURLToPath(new URL('baseline.json', import.meta.url)) },
  },
})
const startedAt = performance.now()
const names = values.only.split(',')
const known = values.write ? {} : JSON.parse(readFileSync(values.baseline, 'utf8'))
const found = []
for (const name of names) {
  const rows = await sturdy(name)
  // If it looks worse, measure again: the smaller figure is closer to the truth. A baseline uses the larger one, so that it never fails by chance.
  const again = values.write || rows.some(isWorse) ? await sturdy(name) : rows
  const pick = values.write ? Math.max : Math.min
  found.push(...rows.map((row, index) => ({ ...row, value: pick(row.value, again[index].value) })))
}
if (values.write) writeBaseline(found)
else compare(found)
process.stderr.write(`${((performance.now() - startedAt) / 1000).toFixed(0)} s\n`)

async function sturdy(name) {
  return (await parts[name]()).filter(({ sturdy }) => sturdy).map((row) => ({ ...row, part: name }))
}

function isWorse({ part, name, value }) {
  const expected = known[part]?.[name]
  return expected === undefined || !(value <= expected * tolerance)
}

function compare(rows) {
  for (const { part, name, value, unit, ...rest } of rows) {
    const isBad = isWorse({ part, name, value, ...rest })
    const baseline = known[part]?.[name]
    const against = baseline === undefined ? 'not in the baseline: write it again' : `baseline ${baseline}`
    console.log(`${isBad ? '✗' : '✓'} ${name}: ${value} ${unit}, ${against}`)
  }
  const missing = names.flatMap((part) =>
    Object.keys(known[part] ?? {}).filter((name) => !rows.some((row) => row.name === name)),
  )
  for (const name of missing) console.log(`✗ ${name}: no longer measured`)
  if (rows.some(isWorse) || missing.length > 0) process.exitCode = 1
}

function writeBaseline(rows) {
  const baseline = {}
  for (const { part, name, value } of rows) baseline[part] = { ...baseline[part], [name]: value }
  writeFileSync(values.baseline, `${JSON.stringify(baseline, undefined, 2)}\n`)
  console.log(JSON.stringify(baseline, undefined, 2))
}
