// Compares this checkout with another one, built too: their benches run in turns, and the least value of each figure counts.
// Usage: npm run bench -- compare ../older-checkout [-- --rounds 3]
import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { machine, option, printProgress } from './measure.mjs'

const here = fileURLToPath(new URL('..', import.meta.url))
const runFile = promisify(execFile)

/** The parts that measure one program, without a backend. `measure` is the export to call. */
const parts = [
  { name: 'start', options: '{ rounds: 8 }' },
  { name: 'overhead', options: '{ iterations: 200, rounds: 1 }' },
  { name: 'parse', options: '{ megabytes: 32 }' },
  { name: 'compile', options: '' },
  { name: 'flatness', measure: 'measureGrowth', options: '' },
]

async function compare(other, rounds) {
  const found = { older: new Map(), newer: new Map() }
  for (let round = 1; round <= rounds; round++) {
    for (const part of parts) {
      printProgress(`round ${round}: ${part.name}`)
      addRows(found.older, await readRows(other, part))
      addRows(found.newer, await readRows(here, part))
    }
  }
  for (const [name, { value: newer, unit }] of found.newer) {
    const older = found.older.get(name)?.value
    const ratio = older === undefined ? 'new' : `${(newer / older).toFixed(2)} ×`
    console.log(
      `${name.padEnd(66)} ${String(older ?? '').padStart(8)} ${String(newer).padStart(8)} ${unit.padEnd(12)} ${ratio}`,
    )
  }
}

/** In a process of its own, in the checkout's folder. */
async function readRows(folder, { name, measure = 'measure', options }) {
  const program = `import('./bench/${name}.mjs').then(async (bench) => console.log(JSON.stringify(await bench.${measure}(${options}))))`
  const { stdout } = await runFile(process.execPath, ['-e', program], { cwd: folder })
  return JSON.parse(stdout.trim().split('\n').at(-1))
}

/** Other programs on the machine only add to a figure; a speed, whose target or unit says so, is best at its maximum. */
function addRows(found, rows) {
  for (const { name, value, unit } of rows) {
    const before = found.get(name)?.value ?? value
    const isSpeed = unit.includes('MB/s') || unit.includes('its time')
    found.set(name, { value: isSpeed ? Math.max(before, value) : Math.min(before, value), unit })
  }
}

const other = process.argv[2]
if (other === undefined) throw new Error('name the folder of the other checkout')
console.log(`${machine()}\n`)
await compare(resolve(other), option('rounds', 3))
