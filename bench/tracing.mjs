// What OpenTelemetry (traces, logs and metrics) adds to the CPU of an iteration of `ralph run`, on against off in alternating turns.
// Once with an agent that does nothing, which gives the cost itself, and once with the least that a real iteration has: an agent
// in Node that calls 20 tools and changes a file, a check, a commit.
// Usage: npm run bench -- tracing [-- --rounds 3]
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import {
  benchEnv,
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

const toolCalls = 20
const ordinarySettings = {
  checkpoint: true,
  'done-when': [{ run: 'true', 'each-iteration': true }],
  proof: 'optional',
}

export async function measure({ rounds = option('rounds', 3) } = {}) {
  const empty = await measureWith({ rounds, iterations: 500, install: tinyAgent, settings: {} })
  const ordinary = await measureWith({
    rounds,
    iterations: 80,
    install: installNodeAgent,
    settings: ordinarySettings,
  })
  return [
    row('telemetry, CPU added to an iteration whose agent does nothing', empty.on - empty.off, 'ms'),
    row(`telemetry, CPU of an iteration with ${toolCalls} tool calls, a check and a commit, off`, ordinary.off, 'ms'),
    row('telemetry, CPU added to that iteration', (ordinary.on / ordinary.off - 1) * 100, '%', { atMost: 5 }),
  ]
}

/** CPU per iteration in ms, as a run of many minus a run of one: without and with telemetry. */
async function measureWith({ rounds, iterations, install, settings }) {
  const collector = await startCollector()
  const work = memoryFolder()
  try {
    install(work)
    const env = { off: benchEnv(work), on: { ...benchEnv(work), OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint } }
    const times = { off: { one: [], many: [] }, on: { one: [], many: [] } }
    const run = (telemetry, count, n) => {
      const cwd = join(work, `${telemetry}-${count}-${n}`)
      const sprint = endlessSprint(join(cwd, 'sprint'), settings)
      if (settings.checkpoint) createRepository(cwd)
      return timed(`node ${ralph} run ${sprint} --max-iterations ${count} --json`, { env: env[telemetry], cwd }).cpu
    }
    for (let n = 0; n < rounds; n++) {
      for (const telemetry of n % 2 === 0 ? ['off', 'on'] : ['on', 'off']) {
        times[telemetry].one.push(run(telemetry, 1, n))
        times[telemetry].many.push(run(telemetry, iterations + 1, n))
      }
    }
    const bytes = await collector.bytes()
    if (bytes < rounds * iterations * 100) throw new Error(`the collector received only ${bytes} bytes`)
    // Other programs only add, so the minimum of all rounds is closest to the truth.
    const per = ({ one, many }) => (least(many) - least(one)) / iterations
    return { off: per(times.off), on: per(times.on) }
  } finally {
    collector.stop()
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

function createRepository(folder) {
  mkdirSync(folder, { recursive: true })
  const identity = ['-c', 'user.name=bench', '-c', 'user.email=bench@localhost']
  for (const args of [
    ['init', '-q'],
    ['add', '.'],
    [...identity, 'commit', '-q', '-m', 'start'],
  ])
    execFileSync('git', args, { cwd: folder, stdio: 'ignore' })
}

/** A `claude` in Node: calls tools, changes a file, and continues. */
function installNodeAgent(folder) {
  const program = `#!/usr/bin/env node
const print = (line) => console.log(JSON.stringify({ ...line, session_id: 's' }))
const say = (role, content) => print({ type: role, message: { role, content: [content] } })
process.stdin.resume().on('end', () => {
  print({ type: 'system', subtype: 'init', model: 'bench' })
  for (let n = 0; n < ${toolCalls}; n++) {
    say('assistant', { type: 'tool_use', id: 't' + n, name: 'Bash', input: { command: 'ls' } })
    say('user', { type: 'tool_result', tool_use_id: 't' + n, content: 'x'.repeat(2000) })
  }
  require('node:fs').appendFileSync('work.txt', 'done\\n')
  const result = '\`\`\`json\\n{"status":"continue","summary":"did one thing"}\\n\`\`\`'
  const usage = { input_tokens: 1, output_tokens: 1 }
  print({ type: 'result', subtype: 'success', is_error: false, result, total_cost_usd: 0, usage })
})
`
  writeFileSync(join(folder, 'claude'), program, { mode: 0o755 })
}

/** In a thread of its own: the runs block this one. */
async function startCollector() {
  const code = `
    const { createServer } = require('node:http')
    const { parentPort } = require('node:worker_threads')
    let bytes = 0
    const server = createServer((request, response) => {
      request.on('data', (part) => (bytes += part.length)).on('end', () => response.end())
    })
    server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port))
    parentPort.on('message', () => parentPort.postMessage(bytes))`
  const worker = new Worker(code, { eval: true })
  const [port] = await once(worker, 'message')
  return {
    endpoint: `http://127.0.0.1:${port}`,
    bytes: async () => (worker.postMessage('bytes'), (await once(worker, 'message'))[0]),
    stop: () => void worker.terminate(),
  }
}

await printIfMain(import.meta.url, measure)
