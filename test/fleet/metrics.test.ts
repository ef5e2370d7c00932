import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Backend } from '../../src/backend/open-backend.ts'
import { machines } from '../../src/backend/database/machine.ts'
import { createNotesProgress } from '../../src/backend/sprints/new-progress.ts'
import { createFleetSprint } from '../../src/backend/sprints/sprints.ts'
import { newUuid } from '../../src/platform/uuid.ts'
import { root } from '../support/paths.ts'
import { locked, simulatedMachine } from '../support/simulated-machine.ts'
import { createApiCaller, createTestBackend, createTestSession } from './test-backend.ts'
import { createAnotherTestAgent, kinds, waitUntil } from './test-fleet.ts'

const scrapeToken = 'a-token-that-may-only-read-metrics'
const promtool = await run('promtool', ['--version']).then(
  () => true,
  () => false,
)

type Series = { readonly name: string; readonly labels: string; readonly value: number }
type Family = { readonly type: string; readonly help: string }

/** Parses the text format as strictly as Prometheus: a family's HELP, TYPE and samples are adjacent, and each has one TYPE. */
function parseMetrics(text: string) {
  const families = new Map<string, Family>()
  const series: Series[] = []
  let current = ''
  for (const line of text.trimEnd().split('\n')) {
    const help = /^# HELP (\S+) (.+)$/.exec(line)
    const type = /^# TYPE (\S+) (counter|gauge|histogram)$/.exec(line)
    const sample = /^([a-z0-9_]+)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (help?.[1] && help[2]) {
      if (families.has(help[1])) throw new Error(`two families ${help[1]}`)
      families.set((current = help[1]), { type: '', help: help[2] })
    } else if (type?.[1] && type[2]) {
      if (type[1] !== current) throw new Error(`TYPE apart from its HELP: ${line}`)
      families.set(current, { ...families.get(current), help: families.get(current)?.help ?? '', type: type[2] })
    } else if (sample?.[1]) {
      if (sample[1].replace(/_(bucket|sum|count)$/, '') !== current.replace(/_(bucket|sum|count)$/, ''))
        throw new Error(`sample apart from its family: ${line}`)
      series.push({ name: sample[1], labels: sample[2] ?? '', value: Number(sample[3]) })
    } else throw new Error(`not a line of the format: ${line}`)
  }
  return { families, series }
}

describe.each(kinds)('the metrics of a backend on the %s database', (kind) => {
  let backend: Backend
  let text = ''
  beforeAll(async () => {
    backend = await createTestBackend(kind, { scrapeToken, settings: { sweepMs: 100 } })
    await runSprint(backend)
    text = await scrape(backend)
  }, 240_000)
  afterAll(() => backend?.close())

  it('have HELP, a type and a unit each, and counters end with _total', () => {
    const { families, series } = parseMetrics(text)
    const wrong = [...families].filter(([name, { type, help }]) => {
      if (help === '' || type === '') return true
      return (type === 'counter') !== name.endsWith('_total')
    })
    expect(wrong).toEqual([])
    expect(series.filter(({ value }) => !Number.isFinite(value))).toEqual([])
  })

  it('count machines on every replica, agents, iterations, verdicts, attempts, cost and tokens', () => {
    const { series } = parseMetrics(text)
    const value = (name: string, labels = '') =>
      series.find((one) => one.name === name && one.labels === labels)?.value ?? 'absent'
    expect({
      connected: value('ralph_machines_connected'),
      machines: value('ralph_machines', 'status="active"'),
      agents: value('ralph_agents', 'state="idle"'),
      iterations:
        series.filter(({ name }) => name === 'ralph_iterations_total').reduce((sum, one) => sum + one.value, 0) >= 3,
      up: value('ralph_database_up'),
    }).toEqual({ connected: 2, machines: 2, agents: 1, iterations: true, up: 1 })
    for (const name of ['ralph_attempts_total', 'ralph_cost_usd_total', 'ralph_tokens_total', 'ralph_sprints'])
      expect(series.map((one) => one.name)).toContain(name)
    for (const name of [
      'ralph_prompt_wait_seconds',
      'ralph_prompt_duration_seconds',
      'ralph_iteration_duration_seconds',
    ])
      expect({ [name]: value(`${name}_count`) }).not.toEqual({ [name]: 'absent' })
  })

  it('have every series that the board and the alert rules ask for', () => {
    const { families } = parseMetrics(text)
    const board = readFileSync(join(root, 'deploy/grafana/ralph-fleet.json'), 'utf8')
    const rules = readFileSync(join(root, 'deploy/prometheus/alerts.yaml'), 'utf8')
    const queries = [
      ...Board.parse(JSON.parse(board)).panels.flatMap(({ targets }) => targets),
      ...Rules.parse(parse(rules)).groups.flatMap((group) => group.rules),
    ]
    const names = queries.flatMap(({ expr }) => expr.match(/\b(?:ralph|process|nodejs)_[a-z0-9_]+/g) ?? [])
    const known = new Set([...families.keys()].flatMap((name) => [name, `${name}_bucket`, `${name}_count`]))
    // Only a backend with TLS has it.
    known.add('ralph_tls_certificate_expiry_timestamp_seconds')
    expect(queries.length).toBeGreaterThan(35)
    expect([...new Set(names)].filter((name) => !known.has(name))).toEqual([])
  })

  it('pass promtool', async ({ skip }) => {
    if (!promtool) skip('there is no promtool')
    expect(await run('promtool', ['check', 'metrics'], text)).toBe('')
    const rules = await run('promtool', ['check', 'rules', join(root, 'deploy/prometheus/alerts.yaml')])
    expect(rules).toContain('13 rules found')
  })

  it('need the scrape token or an admin, and answer a probe that names the address of a pod', async () => {
    const get = (path: string, headers: Record<string, string>) =>
      fetch(`${backend.origin}${path}`, { headers }).then(({ status }) => status)
    expect([
      await get('/metrics', {}),
      await get('/metrics', { authorization: 'Bearer a-token-that-may-only-read-metricz' }),
      await get('/api/users', { authorization: `Bearer ${scrapeToken}` }),
    ]).toEqual([401, 401, 401])
  })
})

it('answer while the database is away, and say so', async () => {
  const backend = await createTestBackend('postgres', { scrapeToken })
  await backend.database.pool.end()
  const text = await scrape(backend)
  await backend.close().catch(() => {})
  expect(text).toContain('\nralph_database_up 0\n')
}, 240_000)

const Board = z.object({ panels: z.array(z.object({ targets: z.array(z.object({ expr: z.string() })) })) })
const Rules = z.object({ groups: z.array(z.object({ rules: z.array(z.object({ expr: z.string() })) })) })

async function scrape({ origin }: Backend): Promise<string> {
  const answer = await fetch(`${origin}/metrics`, { headers: { authorization: `Bearer ${scrapeToken}` } })
  expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8'])
  return answer.text()
}

/** Two machines, one of which runs Ralph Mode until its claim is accepted. */
async function runSprint(backend: Backend): Promise<void> {
  const { fleet, database } = backend
  const ids = ['0197a000-0000-7000-8000-00000000000a', '0197a000-0000-7000-8000-00000000000b']
  for (const id of ids)
    await database.db.insert(machines).values({ id, name: `m-${id.at(-1)}`, status: 'active', slots: 2, createdAt: 1 })
  const attempt = (_: unknown, number: number) => locked({ exists: number < 3, outcome: 'done' })
  const [first] = await Promise.all(
    ids.map(async (id) => {
      const machine = simulatedMachine(fleet, id, { attempt })
      await machine.connect()
      return machine
    }),
  )
  const agent = await createAnotherTestAgent(fleet, first?.id ?? '')
  const api = createApiCaller(backend.origin, { cookie: await createTestSession(backend, localUser) })
  expect((await api('GET', '/api/me')).status).toBe(200)
  const id = newUuid()
  const progress = createNotesProgress(id, { taskDescription: 'Ship it', ifBusy: 'queue', doneWhen: [] })
  await createFleetSprint(fleet, agent.id, { id, progress, by: { name: 'ada' } })
  await waitUntil(
    agent.prompts,
    (rows) => rows.length >= 3 && rows.every(({ status }) => status === 'finished'),
    60_000,
  )
  // Checks and the checkpoint follow the last prompt.
  await waitUntil(agent.row, (row) => row?.state === 'idle', 60_000)
}

const localUser = '00000000-0000-4000-8000-000000000001'

function run(file: string, args: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(file, args, (error, stdout, stderr) =>
      error ? reject(new Error(`${stdout}${stderr}`)) : resolve(`${stdout}${stderr}`),
    )
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}
