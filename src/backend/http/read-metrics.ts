import { monitorEventLoopDelay } from 'node:perf_hooks'
import type { Budget } from '../../contract/fleet/budget.ts'
import { readBudgets } from '../budgets/budgets.ts'
import { machineSilentMs } from '../database/machine.ts'
import type { Database } from '../database/database.ts'
import { listMeters } from '../meters/meters.ts'
import { createGauge, formatMetrics, type Labels, type Metric, type Sample } from '../meters/registry.ts'

export type ReplicaState = {
  readonly version: string
  readonly viewers: number
  /** Lines of machines to this replica. */
  readonly lines: number
  readonly refusedFrames: number
  /** When the TLS certificate ends, in milliseconds. */
  readonly certificateExpiresAt?: number | undefined
}

type GaugeRow = { readonly name: string; readonly label: string | null; readonly value: number }

/** Every row names a metric of `fleetGauges`. Indexed or small tables only: a scrape must not grow with history. */
const selectGauges = `
  select 'ralph_agents' as name, state as label, count(*)::float as value from agent group by state
  union all select 'ralph_prompts', status, count(*) from agent_prompt
    where status in ('queued', 'parked') group by status
  union all select 'ralph_prompts', 'running', count(*) from agent_prompt where status = 'running'
  union all select 'ralph_prompt_queue_oldest_seconds', null, coalesce(max(extract(epoch from
    now() - greatest(created_at, not_before))), 0) from agent_prompt where status = 'queued'
  union all select 'ralph_sprints', status, count(*) from sprint group by status
  union all select 'ralph_machines', status, count(*) from machine group by status
  union all select 'ralph_machines_connected', null, count(*) from machine
    where status <> 'revoked' and connected_to is not null and last_seen_at > now() - make_interval(secs => $1)
  union all select 'ralph_machine_slots', null, coalesce(sum(slots), 0) from machine where status in ('active', 'draining')
  union all select 'ralph_machine_clock_skew_seconds', name, coalesce(clock_skew_ms, 0) / 1000.0 from machine
    where status <> 'revoked'
  union all select 'ralph_machine_disk_free_bytes', name, disk_free_bytes from machine
    where status <> 'revoked' and disk_free_bytes is not null
  union all select 'ralph_questions_open', null, count(*) from question where status = 'open'
  union all select 'ralph_outbox_messages', null, count(*) from machine_outbox
  union all select 'ralph_deliveries_waiting', null, count(*) from delivery where status = 'waiting'
  union all select 'ralph_engine_tasks', lower(status), count(*) from dbos.workflow_status
    where status in ('ENQUEUED', 'PENDING', 'DELAYED') group by status
  union all select 'ralph_replicas', null, count(*) from executor where last_seen > now() - interval '20 seconds'
  union all select 'ralph_database_size_bytes', null, pg_database_size(current_database())
  union all select 'ralph_cost_today_usd', null, coalesce(sum(cost_usd), 0) from usage
    where day = (now() at time zone 'utc')::date`

/** The gauges that the database knows; the same on every replica. `label` is the name of its only label. */
const fleetGauges: Readonly<Record<string, { readonly help: string; readonly label?: string }>> = {
  ralph_agents: { help: 'Agents, by state.', label: 'state' },
  ralph_prompts: { help: 'Prompts that have not ended, by status.', label: 'status' },
  ralph_prompt_queue_oldest_seconds: { help: 'Age of the oldest prompt in a queue.' },
  ralph_sprints: { help: 'Sprints, by status.', label: 'status' },
  ralph_machines: { help: 'Machines, by status.', label: 'status' },
  ralph_machines_connected: { help: 'Machines with a live line to any replica.' },
  ralph_machine_slots: { help: 'Prompts that all machines together may run at once.' },
  ralph_machine_clock_skew_seconds: {
    help: 'Difference between the clocks of a machine and the backend.',
    label: 'machine',
  },
  ralph_machine_disk_free_bytes: { help: 'Free disk space of a machine.', label: 'machine' },
  ralph_questions_open: { help: 'Questions that wait for a user.' },
  ralph_outbox_messages: { help: 'Messages that machines have not confirmed yet.' },
  ralph_deliveries_waiting: { help: 'Webhook deliveries that wait for another try.' },
  ralph_engine_tasks: { help: 'Durable tasks that have not ended, by status.', label: 'status' },
  ralph_replicas: { help: 'Backends that share the database; 0 with the embedded one.' },
  ralph_database_size_bytes: { help: 'Size of the database.' },
  ralph_cost_today_usd: { help: 'Cost of today (UTC) in USD, of all replicas.' },
}

const loopDelay = monitorEventLoopDelay({ resolution: 20 })

/** All metrics of this replica. Answers without the database too, and says so: `ralph_database_up 0`. */
export async function readMetrics(database: Database, replica: ReplicaState): Promise<string> {
  loopDelay.enable()
  const rows = await readGauges(database)
  const up = createGauge('ralph_database_up', 'Whether the database answers.', [{ value: rows ? 1 : 0 }])
  return formatMetrics([
    ...replicaMetrics(replica),
    up,
    ...poolMetrics(database),
    ...toGauges(rows ?? []),
    ...(rows ? budgetMetrics(await readBudgets(database.db, Date.now())) : []),
    ...listMeters(),
  ])
}

const gaugesTimeoutMs = 5000

async function readGauges({ pool }: Database): Promise<readonly GaugeRow[] | undefined> {
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), gaugesTimeoutMs).unref())
  const read = pool.query<GaugeRow>(selectGauges, [machineSilentMs / 1000]).then(
    ({ rows }) => rows,
    () => undefined,
  )
  return Promise.race([read, late])
}

function toGauges(rows: readonly GaugeRow[]): Metric[] {
  return Object.entries(fleetGauges).map(([name, { help, label }]) => {
    const own = rows.filter((row) => row.name === name)
    const samples = own.map(({ label: text, value }): Sample => {
      const labels: Labels = label === undefined ? {} : { [label]: text ?? '' }
      return { labels, value }
    })
    return createGauge(name, help, samples)
  })
}

/** What each budget allows, has spent, and will have spent by the forecast. */
function budgetMetrics(items: readonly Budget[]): Metric[] {
  const toSamples = (usd: (budget: Budget) => number) =>
    items.map((budget): Sample => {
      const { scope, subjectName = '', period } = budget
      return { labels: { scope, subject: subjectName, period }, value: usd(budget) }
    })
  return [
    createGauge(
      'ralph_budget_limit_usd',
      'Limit of a budget.',
      toSamples(({ limitUsd }) => limitUsd),
    ),
    createGauge(
      'ralph_budget_spent_usd',
      'Spend of its current period.',
      toSamples(({ spentUsd }) => spentUsd),
    ),
    createGauge(
      'ralph_budget_forecast_usd',
      'Spend expected at its end.',
      toSamples(({ forecastUsd }) => forecastUsd),
    ),
  ]
}

const poolMetrics = ({ pool }: Database): Metric[] => [
  createGauge('ralph_database_connections', 'Connections of this replica to the database, by state.', [
    { labels: { state: 'idle' }, value: pool.idleCount },
    { labels: { state: 'busy' }, value: pool.totalCount - pool.idleCount },
  ]),
  createGauge('ralph_database_connection_waiters', 'Callers that wait for a connection.', [
    { value: pool.waitingCount },
  ]),
]

function replicaMetrics({ version, viewers, lines, refusedFrames, certificateExpiresAt }: ReplicaState): Metric[] {
  const { rss, heapUsed } = process.memoryUsage()
  const { user, system } = process.cpuUsage()
  return [
    createGauge('ralph_build_info', 'Version of this backend; always 1.', [{ labels: { version }, value: 1 }]),
    createGauge('ralph_sse_viewers', 'Open event streams of this replica.', [{ value: viewers }]),
    createGauge('ralph_machine_lines', 'Lines of machines to this replica.', [{ value: lines }]),
    counter('ralph_frames_refused_total', 'Frames of machines that this replica refused.', refusedFrames),
    ...(certificateExpiresAt === undefined
      ? []
      : [
          createGauge('ralph_tls_certificate_expiry_timestamp_seconds', 'When the TLS certificate ends.', [
            { value: certificateExpiresAt / 1000 },
          ]),
        ]),
    createGauge('process_start_time_seconds', 'Start time of the process since the epoch.', [
      { value: Math.round((Date.now() - process.uptime() * 1000) / 1000) },
    ]),
    createGauge('process_resident_memory_bytes', 'Resident memory.', [{ value: rss }]),
    counter('process_cpu_seconds_total', 'User and system CPU time.', (user + system) / 1e6),
    createGauge('nodejs_heap_size_used_bytes', 'Heap in use.', [{ value: heapUsed }]),
    createGauge('nodejs_eventloop_lag_p99_seconds', '99th percentile of the event loop delay since the last scrape.', [
      { value: readLoopDelay() },
    ]),
  ]
}

const counter = (name: string, help: string, value: number): Metric => ({
  name,
  help,
  type: 'counter',
  samples: () => [{ value }],
})

function readLoopDelay(): number {
  const seconds = loopDelay.percentile(99) / 1e9
  loopDelay.reset()
  return Number.isFinite(seconds) ? seconds : 0
}
