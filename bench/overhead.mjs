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
    const { ours, bare, node } = perIteration(place, { iterations, rounds })
    return [
      row(`iteration, CPU above a bare loop (agent in ${agent})`, ours.cpu - bare.cpu, 'ms', { atMost: 5 }),
      row('iteration, wall time above a bare loop', ours.wall - bare.wall, 'ms', { atMost: 10 }),
      row('iteration, CPU against a Node loop that only starts the agent', ours.cpu / node.cpu, '×', {
        sturdy: true,
      }),
      row('iteration, interval of the bare loop', bare.wall, 'ms'),
      row('iteration, interval of `ralph run`', ours.wall, 'ms'),
      ...(withMemory
        ? [row(`memory, most in ${iterations} iterations`, await peakMemory(place, iterations), 'MB', { atMost: 70 })]
        : []),
    ]
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * What a run of many takes more than a run of one, per iteration: of ours, of a bare loop of the shell, of a bare loop of Node. Of each
 * the least of all rounds, before anything is taken off: other programs only add.
 */
function perIteration(place, { iterations, rounds }) {
  const run = (name, count, n) =>
    timed(`node ${ralph} run ${endlessSprint(join(place.cwd, `${name}-${n}`))} --max-iterations ${count} --json`, place)
  const commands = {
    start: (n) => run('start', 1, n),
    ours: (n) => run('loop', iterations + 1, n),
    bare: () => timed(`sh -c 'i=0; while [ $i -lt ${iterations} ]; do claude <${ralph}; i=$((i+1)); done'`, place),
    nodeStart: () => timed(`node ${nodeLoop} 1`, place),
    node: () => timed(`node ${nodeLoop} ${iterations + 1}`, place),
  }
  const times = Object.fromEntries(Object.keys(commands).map((name) => [name, []]))
  for (let n = 0; n < rounds; n++) for (const [name, command] of Object.entries(commands)) times[name].push(command(n))
  const best = (name, field) => least(times[name].map((time) => time[field]))
  const per = (name, start) => {
    const one = (field) => (best(name, field) - (start ? best(start, field) : 0)) / iterations
    return { cpu: one('cpu'), wall: one('wall') }
  }
  return { ours: per('ours', 'start'), bare: per('bare'), node: per('node', 'nodeStart') }
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
