// Per-iteration cost of `ralph run` against a bare shell loop around the same agent, in one run.
// On ext4 new files are slow for some seconds after many were deleted: wait a little between two runs.
// Usage: node bench/overhead.mjs [iterations=300]
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const ralph = join(here, '..', 'bin', 'cli', 'main.cjs')
const iterations = Number(process.argv[2] ?? 300)
const work = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
const agent = join(work, 'claude')

try {
  execFileSync('cc', ['-O2', '-o', agent, join(here, 'agent.c')])
} catch {
  console.log('no C compiler: the agent is a Node program, so ratios are smaller than they are')
  const source = execFileSync('sed', [
    '-n',
    's/^  puts(\\(".*"\\));$/console.log(\\1)/p',
    join(here, 'agent.c'),
  ]).toString()
  writeFileSync(agent, `#!/usr/bin/env node\n${source}`, { mode: 0o755 })
}

/** CPU time of a shell command and all that it starts, in ms. */
function cpuOf(command) {
  // bash's `times` prints user and system time of its children.
  const { stdout } = spawnSync('bash', ['-c', `${command} >/dev/null 2>"${work}/err"; times`], {
    env: { ...process.env, PATH: `${work}:${process.env.PATH}`, IS_SANDBOX: '1' },
    cwd: work,
  })
  const children = String(stdout).trim().split('\n').at(-1) ?? ''
  return [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce(
    (sum, [, m, s]) => sum + Number(m) * 60_000 + Number(s) * 1000,
    0,
  )
}

function sprint(name, n) {
  const dir = join(work, name)
  mkdirSync(dir, { recursive: true })
  writeFileSync(
    join(dir, 'SPRINT.yaml'),
    `workflow: ralph\ngoal: g\nagent: claude\ndone-when: []\ncheckpoint: false\nlimits: {iterations: ${n}, no-progress: off}\nralph: {idle-threshold: 1000000}\n`,
  )
  return dir
}

const run = (n, name) => {
  const command = `node ${ralph} run ${sprint(name, n)} --json`
  const started = performance.now()
  const cpu = cpuOf(command)
  return { wall: performance.now() - started, cpu }
}
const bare = (n) => {
  const started = performance.now()
  const cpu = cpuOf(`sh -c 'i=0; while [ $i -lt ${n} ]; do claude <${ralph}; i=$((i+1)); done'`)
  return { wall: performance.now() - started, cpu }
}

const start = run(1, 'start')
const loop = run(iterations + 1, 'loop')
const floor = bare(iterations)
const per = (a, b) => ((a - b) / iterations).toFixed(2)
console.table({
  'bare loop': {
    'wall ms/iteration': (floor.wall / iterations).toFixed(2),
    'cpu ms/iteration': (floor.cpu / iterations).toFixed(2),
  },
  ralph: { 'wall ms/iteration': per(loop.wall, start.wall), 'cpu ms/iteration': per(loop.cpu, start.cpu) },
})
console.log(`start and one iteration: ${start.wall.toFixed(0)} ms`)
rmSync(work, { recursive: true })
