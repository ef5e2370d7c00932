// Time until `ralph serve` prints the address of the page: for the first start (no database, no compiled code), and for later
// ones.
// Usage: node bench/serve.mjs [--rounds 5]
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchEnv, median, option, printIfMain, ralph, row, timed } from './measure.mjs'

export async function measure({ rounds = option('rounds', 5) } = {}) {
  const times = { node: [], first: [], later: [] }
  for (let round = 0; round < rounds; round++) {
    const work = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
    try {
      const place = { env: benchEnv(work), cwd: work }
      times.node.push(timed('node -e 0', place).wall)
      times.first.push(await startOfServe(place))
      // The second start caches V8's compiled code.
      await startOfServe(place)
      times.later.push(await startOfServe(place))
    } finally {
      rmSync(work, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  return [
    row('start, `ralph serve`, the very first, median', median(times.first), 'ms', { atMost: 4000 }),
    row('start, `ralph serve`, later, median', median(times.later), 'ms', { atMost: 1000 }),
    row('start, `ralph serve`, later, median', median(times.later) / median(times.node), '× node -e 0'),
  ]
}

async function startOfServe({ env, cwd }) {
  const data = join(cwd, 'data')
  mkdirSync(data, { recursive: true })
  const startedAt = performance.now()
  const stdio = ['ignore', 'pipe', 'inherit']
  const serve = spawn(process.execPath, [ralph, 'serve', '--port', '0', '--data', data], { env, cwd, stdio })
  const ended = once(serve, 'exit')
  await Promise.race([once(serve.stdout, 'data'), ended])
  const took = performance.now() - startedAt
  serve.kill()
  const [code] = await ended
  if (code !== 0) throw new Error(`ralph serve ended with ${code}`)
  return took
}

await printIfMain(import.meta.url, measure)
