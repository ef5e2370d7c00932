// What an iteration of `ralph run` costs above a bare shell loop around the same agent, and how much memory it takes: CPU with the
// files in memory, wall time on disk, where every fact is synced.
// Usage: npm run bench -- overhead [-- --iterations 300]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  benchEnv,
  diskFolder,
  endlessSprint,
  least,
  memoryFolder,
  option,
  printIfMain,
  ralph,
  row,
  timed,
  tinyAgent,
} from './measure.mjs'

const nodeLoop = fileURLToPath(new URL('node-loop.mjs', import.meta.url))

export async function measure({ iterations = option('iterations', 300), rounds = 2, withDisk = true } = {}) {
  const { agent, ...inMemory } = await measureIn(memoryFolder(), { iterations, rounds, withMemory: withDisk })
  const { ours, bare, node } = inMemory
  const ratio = row('iteration, CPU against a Node loop that only starts the agent', ours.cpu / node.cpu, '×', {
    sturdy: true,
  })
  if (!withDisk) return [ratio]
  const disk = await measureIn(diskFolder(), { iterations, rounds })
  const diskWall = disk.ours.wall - disk.bare.wall
  return [
    row(`iteration, CPU above a bare loop (agent in ${agent})`, ours.cpu - bare.cpu, 'ms', { atMost: 3 }),
    ratio,
    row('iteration, wall time above a bare loop, synced to this disk', diskWall, 'ms', { atMost: 3 }),
    row('iteration, CPU above a bare loop, with what this disk takes', disk.ours.cpu - disk.bare.cpu, 'ms'),
    row('iteration, interval of the bare loop', disk.bare.wall, 'ms'),
    row('iteration, interval of `ralph run`', disk.ours.wall, 'ms'),
    row(`memory, most in ${iterations} iterations`, inMemory.memory, 'MB', { atMost: 60 }),
  ]
}

async function measureIn(work, { iterations, rounds, withMemory = false }) {
  try {
    const agent = tinyAgent(work)
    const place = { env: benchEnv(work), cwd: work }
    const times = perIteration(place, { iterations, rounds })
    return { agent, ...times, ...(withMemory && { memory: await peakMemory(place, iterations) }) }
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

/**
 * Cost per iteration, as a run of many minus a run of one: of Ralph, of a bare shell loop, of a bare Node loop. Uses the minimum of
 * all rounds before subtracting: other programs only add.
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

/** In MB: the high-water mark of the program itself, read until it exits. */
async function peakMemory({ env, cwd }, iterations) {
  const args = [ralph, 'run', endlessSprint(join(cwd, 'memory')), '--max-iterations', String(iterations), '--json']
  const child = spawn(process.execPath, args, { env, cwd, stdio: 'ignore' })
  let most = Number.NaN
  const look = setInterval(() => {
    try {
      const found = /VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, 'utf8'))
      if (found) most = Number(found[1]) / 1024
    } catch {
      // The program has exited, or there is no /proc here.
    }
  }, 20)
  await once(child, 'close')
  clearInterval(look)
  return most
}

await printIfMain(import.meta.url, measure)
