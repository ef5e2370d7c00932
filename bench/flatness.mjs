// Does an iteration of `ralph run` cost the same however long the sprint is? A history is written through the real loop and
// the real journal, with an agent that answers at once; then the real program goes on from there, with a real agent process.
// Usage: node bench/flatness.mjs [last=100000] [iterations=300]
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const here = fileURLToPath(new URL('.', import.meta.url))
const dist = (name) => new URL(`../dist/${name}.js`, import.meta.url).href
const ralph = join(here, '..', 'bin', 'cli', 'main.cjs')
const last = Number(process.argv[2] ?? 100_000)
const measured = Number(process.argv[3] ?? 300)
// In memory if possible: a hundred thousand syncs of a disk say nothing about us.
const work = mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'ralph-bench-'))
const env = { ...process.env, PATH: `${work}:${process.env.PATH}`, IS_SANDBOX: '1' }

const { runSprint } = await import(dist('runtime/run-sprint'))
const { advance } = await import(dist('loop/advance'))
const { openSprintStore } = await import(dist('storage/sprint-store'))
const fold = (progress, fact) => advance(progress, fact).progress

execFileSync('cc', ['-O2', '-o', join(work, 'claude'), join(here, 'agent.c')])

/** A new sprint, compiled. */
function sprint(name) {
  const dir = join(work, name)
  mkdirSync(dir, { recursive: true })
  writeFileSync(
    join(dir, 'SPRINT.yaml'),
    'workflow: ralph\ngoal: g\nagent: claude\ndone-when: []\ncheckpoint: false\nlimits: {no-progress: off}\nralph: {idle-threshold: 1000000}\n',
  )
  execFileSync('node', [ralph, 'compile', dir], { env, cwd: work, stdio: 'ignore' })
  return dir
}

const stepsPerReport = 1000

/** What the agent of the history answers: first the plan, then each time one step done and a new one, so that the plan keeps its size. */
function answer(iteration, steps) {
  const planned = Math.min(steps, (iteration - 1) * stepsPerReport)
  const isPlanning = planned < steps
  const fresh = isPlanning ? Math.min(stepsPerReport, steps - planned) : steps > 0 ? 1 : 0
  const pendingSteps = Array.from({ length: fresh }, (_, n) => ({
    id: null,
    prompt: `do part ${n} of what iteration ${iteration} has found, and say what was done`,
  }))
  const done = steps === 0 || isPlanning ? [] : [`step-${iteration - Math.ceil(steps / stepsPerReport)}`]
  const report = { status: 'continue', summary: 'did one thing', pendingSteps, completedStepIds: done }
  return `\`\`\`json\n${JSON.stringify(report)}\n\`\`\``
}

/** Lets the sprint go on to this iteration, without programs, but with a folder and a name for every attempt. */
async function goTo(sprintDir, iterations, steps) {
  const opened = await openSprintStore({ sprintDir, fold, now: Date.now }, async (known) => known)
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  mkdirSync(join(sprintDir, 'transcripts'), { recursive: true })
  const agent = {
    name: 'claude',
    transcriptPath: (name) => join(sprintDir, 'transcripts', name),
    async run({ attempt, transcript }) {
      mkdirSync(join(sprintDir, 'attempts', attempt), { recursive: true })
      writeFileSync(join(sprintDir, 'attempts', attempt, 'exit'), '0\n')
      writeFileSync(join(sprintDir, 'transcripts', transcript), '')
      return { status: 'ok', text: answer(Number.parseInt(attempt), steps), usage, costUsd: 0, exitCode: 0 }
    },
  }
  const ports = {
    store: opened.store,
    agents: () => agent,
    limits: { until: async () => undefined, note: async () => {} },
    notes: async () => undefined,
    hookSlots: (run) => run(),
    clock: { now: Date.now, waitUntil: async () => {} },
    random: Math.random,
    observe: () => {},
  }
  const run = runSprint(opened.progress, ports, { type: 'started', at: Date.now(), runLimits: { iterations } })
  const progress = await run.done
  await opened.store.close()
  if (progress.stats.currentIteration !== iterations) throw new Error(`stopped at ${progress.stats.currentIteration}`)
  return progress.dynamicSteps.filter(({ status }) => status === 'pending').length
}

/** The real program up to this iteration: wall time, CPU time with all that it starts, and when it was ready. */
async function run(dir, iterations) {
  const begun = performance.now()
  const command = `node ${ralph} run ${dir} --max-iterations ${iterations} --json 2>"${work}/err"; times >&2`
  const child = spawn('bash', ['-c', command], { env, cwd: work, stdio: ['ignore', 'pipe', 'pipe'] })
  let ready
  let times = ''
  child.stdout.setEncoding('utf8').on('data', (text) => {
    if (text.includes('"sprint-started"')) ready ??= performance.now() - begun
  })
  child.stderr.setEncoding('utf8').on('data', (text) => (times += text))
  await once(child, 'close')
  const children = times.trim().split('\n').at(-1) ?? ''
  const cpu = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + m * 60_000 + s * 1000, 0)
  return { wall: performance.now() - begun, cpu, ready }
}

async function measure(from, name, iteration) {
  const dir = join(work, name)
  cpSync(from, dir, { recursive: true })
  const first = await run(dir, iteration + 1)
  const all = await run(dir, iteration + 1 + measured)
  const begun = performance.now()
  spawnSync('node', [ralph, 'status', dir], { env, cwd: work, stdio: 'ignore' })
  const status = performance.now() - begun
  const journal = join(dir, 'journal')
  const bytes = readdirSync(journal).reduce((sum, file) => sum + statSync(join(journal, file)).size, 0)
  rmSync(dir, { recursive: true })
  // `all` starts from one iteration more, and does `measured - 1` more of them than `first`.
  const per = (field) => (all[field] - first[field]) / (measured - 1)
  return { wall: per('wall'), cpu: per('cpu'), ready: Math.min(first.ready, all.ready), status, bytes }
}

const points = [100, 10_000, 100_000].filter((iteration) => iteration <= last)
const rows = []
let base
for (const steps of [0, 10_000]) {
  const dir = sprint(`history-${steps}`)
  for (const iteration of points) {
    const pending = await goTo(dir, iteration, steps)
    rows.push(rowOf(iteration, pending, await measure(dir, `run-${steps}-${iteration}`, iteration)))
    // Each one as soon as it is known: the longest history takes minutes.
    console.log(JSON.stringify(rows.at(-1)))
  }
  rmSync(dir, { recursive: true })
}
console.table(rows)
rmSync(work, { recursive: true })

/** Ratios are to the first row: iteration 100 without a plan. */
function rowOf(iteration, pending, { wall, cpu, ready, status, bytes }) {
  base ??= { wall, cpu }
  return {
    'at iteration': iteration,
    'steps pending': pending,
    'wall ms/iteration': round(wall, 2),
    'wall ratio': round(wall / base.wall, 2),
    'cpu ms/iteration': round(cpu, 2),
    'cpu ratio': round(cpu / base.cpu, 2),
    'run ready ms': round(ready),
    'status ms': round(status),
    'journal MB': round(bytes / 1e6, 1),
  }
}

function round(value, digits = 0) {
  return Number(value.toFixed(digits))
}
