/**
 * How long an agent of the fleet is idle between two prompts because of the backend, and what a prompt costs: with 100 and with
 * 1,000 agents that end the same number of prompts per second, and with 1,000 agents, 10,000 events per second and 200 viewers;
 * on the embedded database and on a Postgres server.
 *
 *   node bench/backend.mjs [--seconds 20] [--rate 30] [--only embedded|postgres] [--json]     all of it
 *   node --expose-gc bench/backend-run.mjs --agents 100 --prompt-ms 3000 …               one run; DATABASE_URL for a server
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import { startPostgres } from './backend-postgres.mjs'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '20' },
    rate: { type: 'string', default: '30' },
    only: { type: 'string' },
    json: { type: 'boolean', default: false },
    events: { type: 'string', default: '10000' },
    viewers: { type: 'string', default: '200' },
  },
})
const rate = Number(values.rate)
const script = new URL('backend-run.mjs', import.meta.url).pathname
const load = ['--events', values.events, '--viewers', values.viewers]
const runs = [
  { name: '100 agents', agents: 100, more: [] },
  { name: '1,000 agents', agents: 1000, more: [] },
  { name: '1,000 agents, events, viewers', agents: 1000, more: load },
]

function run({ agents, more }, url) {
  const settings = { agents, 'prompt-ms': Math.round((agents / rate) * 1000), seconds: values.seconds }
  const args = Object.entries(settings).flatMap(([name, value]) => [`--${name}`, `${value}`])
  const env = { ...process.env, ...(url ? { DATABASE_URL: url } : { DATABASE_URL: '' }) }
  const stdio = ['ignore', 'pipe', 'inherit']
  const output = execFileSync(process.execPath, ['--expose-gc', script, ...args, ...more], {
    env,
    stdio,
    encoding: 'utf8',
  })
  return JSON.parse(output.trim().split('\n').at(-1))
}

const server = values.only === 'embedded' ? undefined : await startPostgres()
try {
  for (const database of ['embedded', 'postgres'].filter((kind) => !values.only || kind === values.only)) {
    const figures = []
    for (const [index, one] of runs.entries()) {
      const url = database === 'postgres' ? server.url(await makeDatabase(`bench${index}`)) : undefined
      const found = { name: one.name, ...run(one, url) }
      figures.push(found)
      tell({ ...found, load: readFileSync('/proc/loadavg', 'utf8').slice(0, 4) })
    }
    const [few, many] = figures
    const ratio = Math.round((many.cpuMsPerPrompt / few.cpuMsPerPrompt) * 100) / 100
    const kbPerAgent = Math.round(((many.heapMb - few.heapMb) * 1000) / (many.agents - few.agents))
    tell({ database, ratio, kbPerAgent })
  }
} finally {
  await server?.stop()
}

function tell(found) {
  if (values.json) return console.log(JSON.stringify(found))
  console.log(
    Object.entries(found)
      .map(([name, value]) => `${name} ${value}`)
      .join(' · '),
  )
}

async function makeDatabase(name) {
  const { Client } = await import('pg').then(({ default: pg }) => pg)
  const admin = new Client({ connectionString: server.url('postgres') })
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  return name
}
