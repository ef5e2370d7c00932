// Every figure in one table, with its target. A few minutes; the parts run one after the other, each in its own process.
// Usage: npm run bench [-- --json] [-- --only start,parse] [-- --long] [-- --write]
//   --long: iteration 100,000 with 10,000 steps too; --write: writes the table into docs/benchmarks.md
import { spawn } from 'node:child_process'
import { realpathSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { machine, row, renderTable } from './measure.mjs'
import { today, versions, writePart } from './page-part.mjs'

const hundredAgents = '--agents 100 --prompt-ms 3000 --seconds 10'.split(' ')
const timeoutMs = 600_000

/** The parts. A part that does not print rows has a translation. */
const parts = {
  start: {},
  cell: {},
  serve: {},
  overhead: {},
  flatness: { long: ['--long'] },
  parse: {},
  compile: {},
  room: {},
  'large-room': { file: 'room.mjs', args: ['--json', '--files', '100000', '--rounds', '3'] },
  claim: {},
  repositories: {},
  backend: { file: 'backend-run.mjs', flags: ['--expose-gc'], args: hundredAgents, toRows: backendRows },
  events: {
    file: 'backend-run.mjs',
    flags: ['--expose-gc'],
    args: [...hundredAgents, '--events', '10000', '--viewers', '200'],
    toRows: backendRows,
  },
  fanout: {},
  page: { args: [], toRows: pageRows },
}

/** Rows of every part, in this order; a part that fails becomes one row with the reason, and the others continue. */
async function measureAll(names, { isLong }) {
  const rows = []
  for (const [index, name] of names.entries()) {
    const startedAt = performance.now()
    process.stderr.write(`${name} (${index + 1} of ${names.length})\n`)
    const found = await measurePart(name, { isLong })
    rows.push(...found)
    const seconds = ((performance.now() - startedAt) / 1000).toFixed(0)
    process.stderr.write(found.some(({ failed }) => failed) ? `  failed: ${found[0].failed}\n` : `  ${seconds} s\n`)
  }
  return rows
}

async function measurePart(name, { isLong }) {
  const { file = `${name}.mjs`, flags = [], args = ['--json'], long = [], toRows = allRows } = parts[name]
  try {
    const printed = await output(file, flags, [...args, ...(isLong ? long : [])])
    const json = printed.stdout
      .split('\n')
      .filter((line) => /^[[{]/.test(line))
      .map((line) => JSON.parse(line))
    const found = toRows({ json, text: printed.stdout })
    const reason = printed.stderr
      .trim()
      .split('\n')
      .findLast((line) => /error|Error|:/.test(line))
    if (found.length === 0) throw new Error(reason?.trim() ?? `it printed no figures and ended with ${printed.exit}`)
    return found
  } catch (error) {
    return [{ name: `${name}: it did not work`, value: undefined, unit: '', ok: false, failed: error.message }]
  }
}

const allRows = ({ json }) => json.flat()

function backendRows({ json }) {
  return json.flatMap(({ database, p50, p99, cpuMsPerPrompt, eventsPerSecond, rssMb, agents, viewers }) => {
    const load = eventsPerSecond > 0 ? `, events and ${viewers} viewers` : ''
    const name = (figure) => `backend (${database}), ${agents} agents${load}: ${figure}`
    return [
      row(name('idle to next prompt, median'), p50, 'ms', { atMost: 50 }),
      row(name('idle to next prompt, p99'), p99, 'ms', { atMost: 150 }),
      row(name('CPU of a prompt'), cpuMsPerPrompt, 'ms'),
      ...(eventsPerSecond > 0
        ? [row(name('events taken'), eventsPerSecond, '/s')]
        : [row(name('memory'), rssMb, 'MB', { atMost: 350 })]),
    ]
  })
}

/** Prints one figure per line: name, blanks, number or numbers. */
function pageRows({ text }) {
  const figure = (begin) => {
    const line = text.split('\n').find((one) => one.startsWith(begin))
    const numbers = line
      ?.slice(begin.length)
      .replace(/\(.*?\)/, '')
      .match(/[\d.]+/g)
    return numbers?.map(Number).toSorted((a, b) => a - b)
  }
  const opened = figure('first content of the transcript, ms')
  const heap = figure('heap after reading far back, MB')
  const busy = figure('main thread busy while scrolling')
  return [
    ...(opened
      ? [row('page, opens a transcript of 100,000 events, median', opened[opened.length >> 1], 'ms', { atMost: 1000 })]
      : []),
    ...(busy ? [row('page, main thread busy while it scrolls back', busy[0], '%')] : []),
    ...(heap ? [row('page, heap after reading far back', heap[0], 'MB')] : []),
  ]
}

async function output(file, flags, args) {
  const child = spawn(process.execPath, [...flags, fileURLToPath(new URL(file, import.meta.url)), ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
  })
  const outputs = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text) => (outputs.stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => {
    outputs.stderr += text
    process.stderr.write(text)
  })
  const exit = await new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
  return { ...outputs, exit }
}

function page(rows, on) {
  const missed = rows.filter(({ ok }) => ok === false).length
  const targets = rows.filter(({ target }) => target !== undefined).length
  return `## Our own figures

Written by \`npm run bench -- --write\` on ${today()}; do not edit. ${versions()}.
${on} at the start. Targets are for an idle machine; CPU times and their ratios hardly depend on what else it does.
${targets - missed} of ${targets} targets met.

${renderTable(rows)}
`
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({
    options: {
      json: { type: 'boolean' },
      only: { type: 'string' },
      long: { type: 'boolean', default: false },
      write: { type: 'boolean' },
    },
  })
  const names = values.only?.split(',') ?? Object.keys(parts)
  const unknown = names.filter((name) => !Object.hasOwn(parts, name))
  if (unknown.length > 0) {
    process.stderr.write(`no such part: ${unknown.join(', ')}; there are ${Object.keys(parts).join(', ')}\n`)
    process.exit(1)
  }
  const on = machine()
  const rows = await measureAll(names, { isLong: values.long })
  if (values.write && values.only === undefined) writePart('own', page(rows, on))
  console.log(
    values.json ? JSON.stringify({ date: today(), machine: on, rows }, undefined, 2) : `${renderTable(rows)}\n\n${on}`,
  )
  process.exitCode = rows.every(({ ok }) => ok !== false) ? 0 : 1
}
