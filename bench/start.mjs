// How long `ralph` takes to start, compared with Node itself, in one run. CPU time is more reliable on a busy machine.
// Usage: npm run bench -- start [-- --rounds 20]
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchEnv, endlessSprint, least, median, option, printIfMain, ralph, row, timed } from './measure.mjs'

export async function measure({ rounds = option('rounds', 20) } = {}) {
  const work = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
  try {
    return startRows({ env: benchEnv(work), cwd: work }, rounds)
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

function startRows(place, rounds) {
  putAgent(place.cwd)
  // The first start also writes V8's compiled code, and creates the sprint that `status` shows.
  startOfAgent(place, 0)
  const times = { node: [], version: [], status: [], run: [] }
  for (let round = 1; round <= rounds; round++) {
    times.node.push(timed('node -e 0', place))
    times.version.push(timed(`node ${ralph} --version`, place))
    times.status.push(timed(`node ${ralph} status`, place))
    times.run.push(startOfAgent(place, round))
  }
  const cpu = (name) => least(times[name].map((time) => time.cpu))
  const wall = (name) => median(times[name].map((time) => time.wall))
  return [
    row('start, `ralph --version`, CPU', cpu('version') / cpu('node'), '× node -e 0', { atMost: 1.5, sturdy: true }),
    row('start, `ralph status`, CPU', cpu('status') / cpu('node'), '× node -e 0', { atMost: 2, sturdy: true }),
    ...(Number.isFinite(cpu('run'))
      ? [
          row('start, `ralph run` until the agent runs, CPU', cpu('run') / cpu('node'), '× node -e 0', {
            atMost: 3,
            sturdy: true,
          }),
        ]
      : []),
    row('start, `ralph run` until the agent runs, median', wall('run'), 'ms', { atMost: 300 }),
    row('start, `ralph run` until the agent runs, median', wall('run') / wall('node'), '× node -e 0'),
  ]
}

const goalReached = '```json\n{"status":"goal-complete","summary":"done","goalCompleteSummary":"all done"}\n```'

function putAgent(folder) {
  const result = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: goalReached,
    session_id: 's',
    usage: {},
  }
  writeFileSync(
    join(folder, 'claude'),
    `#!/bin/sh\ndate +%s%N >'${folder}/started'\n${noteCpu(folder)}\ncat >/dev/null\ncat <<'EOF'\n${JSON.stringify(result)}\nEOF\n`,
    { mode: 0o755 },
  )
}

/** On Linux: the nanoseconds that each thread of Ralph, the parent of the agent's shim, has worked so far. */
const noteCpu = (folder) =>
  `read -r _ _ _ ralph _ </proc/$PPID/stat && cat /proc/$ralph/task/*/schedstat >'${folder}/cpu' 2>/dev/null`

function readCpu(folder) {
  if (!existsSync(join(folder, 'cpu'))) return Number.NaN
  const threads = readFileSync(join(folder, 'cpu'), 'utf8').trim().split('\n')
  return threads.reduce((sum, line) => sum + Number(line.split(' ')[0]), 0) / 1e6
}

/** From the start of `ralph run` to the first action of the agent. */
function startOfAgent({ env, cwd }, number) {
  const dir = endlessSprint(join(cwd, '.claude/sprints', `sprint-${number}`))
  const startedAt = performance.timeOrigin + performance.now()
  timed(`node ${ralph} run ${dir} --plain`, { env, cwd })
  if (number > 0) rmSync(dir, { recursive: true })
  return { wall: Number(readFileSync(join(cwd, 'started'), 'utf8')) / 1e6 - startedAt, cpu: readCpu(cwd) }
}

await printIfMain(import.meta.url, measure)
