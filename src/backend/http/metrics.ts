import { sql } from 'drizzle-orm'
import type { Database } from '../database/database.ts'

export type Gauges = { readonly viewers: number; readonly machines: number; readonly refusedFrames: number }

/** Metrics in Prometheus format. */
export async function formatMetrics({ db }: Database, gauges: Gauges): Promise<string> {
  const { rows } = await db.execute<{ name: string; label: string; value: number }>(sql`
    select 'ralph_agents' as name, state as label, count(*)::int as value from agent group by state
    union all select 'ralph_prompts_waiting', status, count(*)::int from agent_prompt
      where status in ('queued', 'running', 'parked') group by status
    union all select 'ralph_sprints', status, count(*)::int from sprint group by status
    union all select 'ralph_machines', status, count(*)::int from machine group by status
    union all select 'ralph_questions_open', 'open', count(*)::int from question where status = 'open'
    union all select 'ralph_outbox_messages', 'waiting', count(*)::int from machine_outbox
    union all select 'ralph_deliveries_waiting', 'waiting', count(*)::int from delivery where status = 'waiting'`)
  const { rss, heapUsed } = process.memoryUsage()
  const counted = rows.map(({ name, label, value }) => `${name}{state="${label}"} ${value}`)
  const own = [
    `ralph_sse_viewers ${gauges.viewers}`,
    `ralph_machines_connected ${gauges.machines}`,
    `ralph_frames_refused_total ${gauges.refusedFrames}`,
    `process_resident_memory_bytes ${rss}`,
    `nodejs_heap_used_bytes ${heapUsed}`,
    `process_cpu_seconds_total ${(process.cpuUsage().user + process.cpuUsage().system) / 1e6}`,
  ]
  const types = [...new Set([...rows.map(({ name }) => name), ...own.map((line) => line.split(' ')[0])])]
  return [...types.map((name) => `# TYPE ${name} gauge`), ...counted, ...own, ''].join('\n')
}
