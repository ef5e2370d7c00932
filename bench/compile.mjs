// Compile time of a sprint with 1,000 and with 10,000 items, in one process: it must grow with the items and no faster.
// Exits 1 if 1,000 items take 300 ms or more, or 10,000 more than 12 times as long. Usage: node bench/compile.mjs (after a build)
import { compile } from '../dist/compiler/compile.js'

const workflow = 'name: W\nmode: standard\nphases:\n  - {id: work, for-each: step}\n'

const sprint = (count) =>
  `workflow: w\ncollections:\n  step:\n${Array.from({ length: count }, (_, n) => `    - {prompt: "do thing ${n} and verify it", id: s${n}, size: ${n}}\n`).join('')}`

function time(count, runs) {
  const input = {
    sprint: { file: 'SPRINT.yaml', text: sprint(count) },
    readWorkflow: () => ({ file: 'w.yaml', text: workflow }),
    defaultSprintId: 'bench',
    at: 0,
  }
  const times = Array.from({ length: runs }, () => {
    const before = process.cpuUsage()
    const { progress, diagnostics } = compile(input)
    if (!progress) throw new Error(JSON.stringify(diagnostics[0]))
    const { user, system } = process.cpuUsage(before)
    return (user + system) / 1000
  })
  return { first: times[0], median: times.toSorted((a, b) => a - b)[Math.floor(runs / 2)] }
}

const small = time(1000, 9)
const large = time(10_000, 5)
const ratio = large.median / small.median
console.table({
  '1,000 items': { 'first ms': small.first.toFixed(0), 'median ms': small.median.toFixed(0) },
  '10,000 items': { 'first ms': large.first.toFixed(0), 'median ms': large.median.toFixed(0) },
})
console.log(`ratio ${ratio.toFixed(1)} (at most 12), CPU time`)
process.exitCode = small.median < 300 && ratio <= 12 ? 0 : 1
