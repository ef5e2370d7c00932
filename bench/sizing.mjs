/**
 * The sizing table of docs/benchmarks.md: what one backend process takes. By default agents that
 * end 10 prompts per second together.
 *
 *   node bench/sizing.mjs [--only embedded|postgres] [--agents 100,1000,10000] [--write]
 *   node bench/sizing.mjs --from FILE --write       from lines that bench/backend-run.mjs has printed
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { startPostgres } from './backend-postgres.mjs'
import { today, versions, writePart } from './page-part.mjs'

const promptsPerSecond = 10
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    agents: { type: 'string', default: '100,1000,10000' },
    from: { type: 'string' },
    write: { type: 'boolean', default: false },
  },
})
const script = fileURLToPath(new URL('backend-run.mjs', import.meta.url))

const lines = values.from === undefined ? await measureAll() : readFileSync(values.from, 'utf8').split('\n')
const rows = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line))
if (values.write) writePage(rows)

async function measureAll() {
  const kinds = ['embedded', 'postgres'].filter((kind) => !values.only || kind === values.only)
  const found = []
  for (const kind of kinds) {
    for (const agents of values.agents.split(',').map(Number)) found.push(await measureOne(kind, agents))
  }
  return found
}

async function measureOne(kind, agents) {
  const server = kind === 'postgres' ? await startPostgres() : undefined
  try {
    const settings = ['--agents', agents, '--prompt-ms', (agents / promptsPerSecond) * 1000, '--seconds', 40]
    const output = execFileSync(process.execPath, ['--expose-gc', script, ...settings.map(String)], {
      env: { ...process.env, DATABASE_URL: server?.url('postgres') ?? '' },
      stdio: ['ignore', 'pipe', 'inherit'],
      encoding: 'utf8',
    })
    const line = output.trim().split('\n').at(-1) ?? ''
    console.log(line)
    return line
  } finally {
    await server?.stop()
  }
}

function writePage(found) {
  const cells = found.map(({ database, agents, promptsPerSecond: rate, eventsPerSecond, viewers = 0, ...one }) => [
    database,
    agents.toLocaleString('en'),
    Math.round(rate),
    eventsPerSecond.toLocaleString('en'),
    viewers,
    `${Math.round(one.cpuShare * 100)} %`,
    `${one.rssMb} MB`,
  ])
  const head = ['database', 'agents', 'prompts/s', 'events/s', 'viewers', 'of one core', 'memory']
  const table = [head, head.map(() => '---'), ...cells].map((row) => `| ${row.join(' | ')} |`).join('\n')
  writePart(
    'sizing',
    `## Sizing

Written by \`node bench/sizing.mjs --write\` on ${today()}; do not edit. ${versions()}. Load average ${loadavg()[0].toFixed(0)}: other work makes CPU times larger.
What the process of one backend takes while simulated agents work; the CPU of the Postgres server and of the viewers is not in it.

${table}

A backend is one thread, and its CPU is the limit, before memory. Above half a core, start another backend on the same Postgres;
the embedded database serves one. The next step for more than 10,000 agents: measure several backends, and the CPU of Postgres.
`,
  )
}
