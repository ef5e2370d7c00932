// Compile time of a sprint with 1,000 and with 10,000 items, in one process: it must not grow faster than the items.
// Usage: npm run bench -- compile
import { compile } from '../dist/compiler/compile.js'
import { median, printIfMain, row } from './measure.mjs'

export async function measure() {
  const small = measureCpu(1000, 9)
  const large = measureCpu(10_000, 3)
  return [
    row('compile, 1,000 items, CPU', small, 'ms', { atMost: 300 }),
    row('compile, 10,000 items against 1,000', large / small, '×', { atMost: 12, sturdy: true }),
  ]
}

const workflow = 'name: W\nmode: standard\nphases:\n  - {id: work, for-each: step}\n'

function sprint(count) {
  const items = Array.from(
    { length: count },
    (_, n) => `    - {prompt: "do thing ${n} and verify it", id: s${n}, size: ${n}}\n`,
  )
  return `workflow: w\ncollections:\n  step:\n${items.join('')}`
}

function measureCpu(count, runs) {
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
  return median(times)
}

await printIfMain(import.meta.url, measure)
