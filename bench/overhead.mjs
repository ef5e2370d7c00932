// What an iteration of `ralph run` costs above a bare shell loop around the same agent, and how much memory it takes.
// Usage: npm run bench:overhead [-- --iterations 300]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { benchEnv, endlessSprint, least, option, printIfMain, ralph, row, timed, tinyAgent } from './measure.mjs'

const nodeLoop = fileURLToPath(new URL('node-loop.mjs', import.meta.url))

export async function measure({ iterations = option('iterations', 300), rounds = 2, withMemory = true } = {}) {
  const work = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
  try {
    const agent = tinyAgent(work)
    const place = { env: benchEnv(work), cwd: work }
    const results = Array.from({ length: rounds }, (_, n) => overhead(place, { iterations, n }))
    const best = (field) => least(results.map((result) => result[field]))
    return [
      row(`iteration, CPU above a bare loop (agent in ${agent})`, best('cpu'), 'ms', { atMost: 5 }),
      row('iteration, wall time above a bare loop', best('wall'), 'ms', { atMost: 10 }),
      row('iteration, CPU against a Node loop that only starts the agent', best('run') / best('node'), '×', {
        sturdy: true,
      }),
      row('iteration, interval of the bare loop', best('bare'), 'ms'),
      row('iteration, interval of `ralph run`', best('interval'), 'ms'),
      ...(withMemory
        ? [row(`memory, most in ${iterations} iterations`, await peakMemory(place, iterations), 'MB', { atMost: 70 })]
        : []),
    ]
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** Per iteration; the start is measured apart and taken off. */
function overhead(place, { iterations, n }) {
  const run = (name, count) =>
    timed(`node ${ralph} run ${endlessSprint(join(place.cwd, `${name}-${n}`))} --max-iterations ${count} --json`, place)
  const start = run('start', 1)
  const loop = run('loop', iterations + 1)
  const bare = timed(`sh -c 'i=0; while [ $i -lt ${iterations} ]; do claude <${ralph}; i=$((i+1)); done'`, place)
  const nodeStart = timed(`node ${nodeLoop} 1`, place)
  const node = timed(`node ${nodeLoop} ${iterations + 1}`, place)
  const per = (field) => (loop[field] - start[field] - bare[field]) / iterations
  return {
    cpu: per('cpu'),
    wall: per('wall'),
    run: (loop.cpu - start.cpu) / iterations,
    node: (node.cpu - nodeStart.cpu) / iterations,
    bare: bare.wall / iterations,
    interval: (loop.wall - start.wall) / iterations,
  }
}

/** In MB: the high-water mark of the program itself, read until it ends. */
async function peakMemory({ env, cwd }, iterations) {
  const args = [ralph, 'run', endlessSprint(join(cwd, 'memory')), '--max-iterations', String(iterations), '--json']
  const child = spawn(process.execPath, args, { env, cwd, stdio: 'ignore' })
  let most = Number.NaN
  const look = setInterval(() => {
    try {
      const found = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
      if (found) most = Number(found[1]) / 1024
    } catch {
      // It has ended, or there is no /proc here.
    }
  }, 20)
  await once(child, 'close')
  clearInterval(look)
  return most
}

await printIfMain(import.meta.url, measure)
