// How long `ralph` takes to start, against Node itself, in one run: --version at most 1.5 x, status at most 2 x `node -e 0`, and
// at most 300 ms from `ralph run` to a running agent on an idle machine.
// Usage: node bench/start.mjs [rounds=20]
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ralph = fileURLToPath(new URL('../bin/cli/main.cjs', import.meta.url))
const rounds = Number(process.argv[2] ?? 20)
const work = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
const env = { ...process.env, HOME: work, PATH: `${work}:${process.env.PATH}`, IS_SANDBOX: '1' }

const started = join(work, 'started')
const report = '```json\n{"status":"goal-complete","summary":"done","goalCompleteSummary":"all done"}\n```'
const result = { type: 'result', subtype: 'success', is_error: false, result: report, session_id: 's', usage: {} }
writeFileSync(
  join(work, 'claude'),
  `#!/bin/sh\ndate +%s%N >'${started}'\ncat >/dev/null\ncat <<'EOF'\n${JSON.stringify(result)}\nEOF\n`,
  { mode: 0o755 },
)

/** Wall and CPU time of one call, in ms. CPU time says more on a machine that does other things too. */
function node(...args) {
  const begun = performance.now()
  // bash's `times` prints user and system time of its children.
  const printed = execFileSync('bash', ['-c', '"$@" >/dev/null && times', 'bash', process.execPath, ...args], {
    cwd: work,
    env,
  })
  const wall = performance.now() - begun
  const children = String(printed).trim().split('\n').at(-1)
  const cpu = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + m * 60_000 + s * 1000, 0)
  return { wall, cpu }
}

/** From the start of `ralph run` to the first thing that the agent does. */
function startOfAgent(number) {
  const dir = join(work, '.claude/sprints', `sprint-${number}`)
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, 'SPRINT.yaml'), 'workflow: ralph\ngoal: g\nagent: claude\ndone-when: []\ncheckpoint: false\n')
  const begun = performance.timeOrigin + performance.now()
  node(ralph, 'run', dir, '--plain')
  if (number > 0) rmSync(dir, { recursive: true })
  return { wall: Number(readFileSync(started, 'utf8')) / 1e6 - begun }
}

startOfAgent(0)
const times = { 'node -e 0': [], 'ralph --version': [], 'ralph status': [], 'ralph run, until the agent runs': [] }
const [bare, version, status, run] = Object.values(times)
for (let round = 1; round <= rounds; round++) {
  bare.push(node('-e', '0'))
  version.push(node(ralph, '--version'))
  status.push(node(ralph, 'status'))
  run.push(startOfAgent(round))
}
rmSync(work, { recursive: true })

const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]
const least = (numbers) => Math.min(...numbers)
const ratio = (take, all, of) => {
  const times = take(all.map(of)) / take(bare.map(of))
  return Number.isNaN(times) ? '' : Number(times.toFixed(2))
}
const wall = (time) => time.wall
const cpu = (time) => time.cpu
console.table(
  Object.fromEntries(
    Object.entries(times).map(([name, all]) => [
      name,
      {
        'median ms': Math.round(median(all.map(wall))),
        'least ms': Math.round(least(all.map(wall))),
        'x node (median)': ratio(median, all, wall),
        'x node (least)': ratio(least, all, wall),
        'x node (CPU, median)': ratio(median, all, cpu),
        'x node (CPU, least)': ratio(least, all, cpu),
      },
    ]),
  ),
)
