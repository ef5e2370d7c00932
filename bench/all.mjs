// Every figure in one table. A few minutes; the parts run one after the other, each in a process of its own.
// Usage: npm run bench [-- --json] [-- --only start,parse]
import { spawn } from 'node:child_process'
import { cpus, loadavg } from 'node:os'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { row, tableOf } from './measure.mjs'

/** The parts. What prints something else than rows has a translation. */
const parts = {
  start: { args: ['--json'] },
  overhead: { args: ['--json'] },
  flatness: { args: ['100000', '200'], rowsOf: flatnessRows },
  parse: { args: ['--json'] },
  compile: { args: ['--json'] },
  backend: { args: ['--agents', '100', '--seconds', '15', '--events'], rowsOf: backendRows },
}

export async function measureAll(names = Object.keys(parts)) {
  const rows = []
  for (const name of names) {
    const { args, rowsOf = (lines) => lines.flat() } = parts[name]
    const printed = await output(fileURLToPath(new URL(`${name}.mjs`, import.meta.url)), args)
    const lines = printed.split('\n').filter((line) => /^[[{]/.test(line))
    const found = lines.length === 0 ? [] : rowsOf(lines.map((line) => JSON.parse(line)))
    rows.push(...(found.length === 0 ? [{ name: `${name}: it did not work`, value: 0, unit: '', ok: false }] : found))
  }
  return rows
}

/** Wall times mean something on an idle machine only. */
export function machine() {
  const [{ model }] = cpus()
  const load = loadavg()[0].toFixed(1)
  return `${cpus().length} × ${model.trim()}, Node ${process.version}, ${process.platform}; load average ${load}`
}

function flatnessRows(lines) {
  const first = lines[0]
  const last = lines.filter((line) => line['at iteration'] === lines.at(-1)['at iteration'])
  const against = `against ${first['at iteration']}`
  return last.flatMap((line) => {
    const steps = line['steps pending']
    const where = `${line['at iteration'].toLocaleString('en')}${steps ? ` with ${steps.toLocaleString('en')} steps` : ''}`
    return [
      row(`flatness, CPU of iteration ${where} ${against}`, line['cpu ratio'], '×', { atMost: steps ? 3 : 1.5 }),
      row(`recovery, from the journal of ${where}`, line['run ready ms'], 'ms', { atMost: 2000 }),
    ]
  })
}

function backendRows(lines) {
  const all = Object.assign({}, ...lines)
  const { idleToNextPromptMs: idle, eventsPerSecond, sse, rssMb } = all
  return [
    ...(idle
      ? [
          row(`backend (${all.database}), idle to next prompt, median, ${all.agents} agents`, idle.p50, 'ms', {
            atMost: 50,
          }),
          row(`backend (${all.database}), idle to next prompt, p99`, idle.p99, 'ms', { atMost: 150 }),
          row(`backend (${all.database}), memory`, rssMb, 'MB', { atMost: 350 }),
        ]
      : []),
    ...(eventsPerSecond ? [row(`backend (${all.database}), events taken`, eventsPerSecond, '/s')] : []),
    ...(sse ? [row(`backend, SSE fan-out to ${sse.clients} clients`, sse.framesPerSecond, 'frames/s')] : []),
  ]
}

async function output(file, args) {
  const child = spawn(process.execPath, [file, ...args], { stdio: ['ignore', 'pipe', 'inherit'] })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (part) => (text += part))
  await new Promise((resolve) => child.on('close', resolve))
  return text
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { json: { type: 'boolean' }, only: { type: 'string' } } })
  const rows = await measureAll(values.only?.split(','))
  console.log(
    values.json ? JSON.stringify({ machine: machine(), rows }, undefined, 2) : `${tableOf(rows)}\n\n${machine()}`,
  )
  process.exitCode = rows.every(({ ok }) => ok !== false) ? 0 : 1
}
