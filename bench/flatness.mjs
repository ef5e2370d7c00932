// Does an iteration of `ralph run` cost the same no matter how long the sprint is? Writes a history through the real loop and the
// real journal, with an agent that answers at once; then the real program continues from there, with a real agent process. Also
// kills it there, to measure how soon it continues.
// Usage: npm run bench -- flatness [-- --iterations 1000] [-- --long] [-- --json]
//   --iterations: of one measurement; 1,000 take some seconds, so that the file is written several times and the journal rotates
//   --long: all 100,000 iterations with 10,000 steps, and not only the first 10,000 and the last 3,000
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { advance } from '../dist/loop/advance.js'
import { runSprint } from '../dist/runtime/run-sprint.js'
import { stateFolder } from '../dist/platform/files/state-folder.js'
import { openSprintStore } from '../dist/storage/sprint/sprint-store.js'
import { readProgress } from '../dist/storage/state/read-progress.js'
import {
  benchEnv,
  endlessSprint,
  least,
  median,
  memoryFolder,
  option,
  printIfMain,
  printProgress,
  ralph,
  row,
  timed,
  tinyAgent,
} from './measure.mjs'

const manySteps = 10_000
const firstPoint = 100
const fold = (progress, fact) => advance(progress, fact).progress

export async function measure({
  iterations = option('iterations', 1000),
  isLong = process.argv.includes('--long'),
} = {}) {
  // In memory if possible: a hundred thousand disk syncs say nothing about Ralph.
  const work = memoryFolder()
  const base = join(work, 'base')
  const place = { env: benchEnv(work), cwd: work, iterations, base }
  try {
    tinyAgent(work)
    const plain = compiled(place, 0)
    await goTo(plain, firstPoint)
    cpSync(plain, base, { recursive: true })
    const later = await along(place, { dir: plain, steps: 0, points: [10_000, 100_000] })
    const dir = compiled(place, manySteps)
    const points = [firstPoint, 10_000, 100_000]
    return flatnessRows(later, await along(place, { dir, steps: manySteps, points, leaps: !isLong }))
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

/** For the guard, in seconds: cost of a later iteration relative to an early one, with an agent that is not a process. */
export async function measureGrowth() {
  const work = memoryFolder()
  try {
    const rows = []
    const warm = compiled({ env: benchEnv(work), cwd: work }, 1)
    await goTo(warm, 600)
    for (const steps of [0, 2000]) {
      const dir = compiled({ env: benchEnv(work), cwd: work }, steps)
      const cpuTo = async (iteration) => {
        const before = process.cpuUsage()
        await goTo(dir, iteration, { steps })
        const { user, system } = process.cpuUsage(before)
        return user + system
      }
      const pieces = []
      for (let part = 1; part <= 9; part++) pieces.push(await cpuTo(part * 300))
      const [early, late] = [least(pieces.slice(1, 4)), least(pieces.slice(6))]
      rows.push(
        row(`history, CPU of iteration 2,500 against 800, ${steps} steps`, Math.max(1, late / early), '×', {
          sturdy: true,
        }),
      )
    }
    return rows
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

function flatnessRows(later, planned) {
  const at = ({ iteration, steps }) =>
    `iteration ${iteration.toLocaleString('en')}${steps === 0 ? '' : ` with ${steps.toLocaleString('en')} steps`}`
  const against = `against iteration ${firstPoint}`
  return [
    row(
      `flatness, CPU of iteration ${firstPoint}, the agent in it`,
      median([...later, ...planned].map(({ first }) => first)),
      'ms',
    ),
    ...later.map((one) => row(`flatness, CPU of ${at(one)} ${against}`, one.growth, '×', { atMost: 1.5 })),
    ...planned.map((one) => row(`flatness, CPU of ${at(one)} ${against}`, one.growth, '×', { atMost: 3 })),
    ...[later.at(-1), ...planned.slice(1)].map((one) =>
      row(`recovery, kill -9 at ${at(one)}, until the next run continues`, one.recovery, 'ms', { atMost: 2000 }),
    ),
  ]
}

/** One history that grows, measured at each point; `leaps`: skips most of what is between the last two. */
async function along(place, { dir, steps, points, leaps = false }) {
  const found = []
  let skipped = 0
  for (const iteration of points) {
    const what = `${iteration.toLocaleString('en')} iterations${steps === 0 ? '' : `, ${steps.toLocaleString('en')} steps`}`
    // The last one is no longer needed.
    const isLast = iteration === points.at(-1)
    printProgress(`writes a history of ${what}`)
    if (isLast && leaps) skipped = await leap(dir, iteration - lastPart)
    await goTo(dir, iteration, { steps, skipped })
    printProgress(`continues from ${what}`)
    const folder = isLast ? dir : join(place.cwd, 'copy')
    if (!isLast) cpSync(dir, folder, { recursive: true })
    found.push({ iteration, steps, ...compared(folder, iteration, place), recovery: await recovery(folder, place) })
    rmSync(folder, { recursive: true })
  }
  return found
}

function compiled({ env, cwd }, steps) {
  const dir = endlessSprint(join(cwd, `history-${steps}`))
  execFileSync('node', [ralph, 'compile', dir], { env, cwd, stdio: 'ignore' })
  return dir
}

const rounds = 3

/** Cost of an iteration here relative to a first one. Alternating, so that other load on the machine affects both. */
function compared(dir, iteration, place) {
  const found = []
  const first = join(place.cwd, 'first')
  for (let from = iteration; found.length < rounds; from += place.iterations + 1) {
    cpSync(place.base, first, { recursive: true })
    found.push({ first: measureCpu(first, firstPoint, place), here: measureCpu(dir, from, place) })
    rmSync(first, { recursive: true })
  }
  return { first: median(found.map((one) => one.first)), growth: median(found.map((one) => one.here / one.first)) }
}

/** Per iteration; subtracts the cost of a run of one, for the start. */
function measureCpu(dir, iteration, { iterations, ...place }) {
  const run = (last) => timed(`node ${ralph} run ${dir} --max-iterations ${last} --json`, place).cpu
  const start = run(iteration + 1)
  return (run(iteration + 1 + iterations) - start) / (iterations - 1)
}

/** From the start of the program, after a killed one, until it reports that it continues. */
async function recovery(dir, { env, cwd }) {
  const start = () =>
    spawn(process.execPath, [ralph, 'run', dir, '--json'], { env, cwd, stdio: ['ignore', 'pipe', 'ignore'] })
  const killed = start()
  await waitForWord(killed, '"iteration-started"')
  killed.kill('SIGKILL')
  const startedAt = performance.now()
  const next = start()
  await waitForWord(next, '"sprint-started"')
  const took = performance.now() - startedAt
  const ended = once(next, 'close')
  next.kill('SIGTERM')
  await ended
  return took
}

async function waitForWord(child, word) {
  for await (const text of child.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false }))
    if (text.includes(word)) return child.stdout.resume()
  throw new Error(`ralph run ended without ${word}`)
}

const stepsPerReport = 1000

/** Answers of the agent of the history: first the plan, then each time one completed step and a new one, so that the plan keeps its size. */
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

/** Enough for several snapshots, and for the maximum number of records after the last one. */
const lastPart = 3000

/** Moves the sprint to a later iteration, with the folders of all attempts in between; returns how many those are. */
async function leap(sprintDir, iteration) {
  const known = await readProgress({ sprintDir, fold })
  const from = known.stats.currentIteration
  for (const name of ['journal', 'PROGRESS.yaml']) rmSync(join(sprintDir, name), { recursive: true, force: true })
  const later = { ...known, stats: { ...known.stats, currentIteration: iteration } }
  const opened = await openSprintStore({ sprintDir, fold, now: Date.now }, later)
  await opened.store.close()
  for (let n = from + 1; n <= iteration; n++) noteAttempt(sprintDir, `${n}-1`, `iteration-${n}.jsonl`)
  return iteration - from
}

function noteAttempt(sprintDir, attempt, transcript) {
  mkdirSync(join(stateFolder(sprintDir), 'attempts', attempt), { recursive: true })
  writeFileSync(join(stateFolder(sprintDir), 'attempts', attempt, 'exit'), '0\n')
  writeFileSync(join(sprintDir, 'transcripts', transcript), '')
}

/** Runs the sprint up to this iteration, without processes, but with a folder and a name for every attempt. */
async function goTo(sprintDir, iterations, { steps = 0, skipped = 0 } = {}) {
  const opened = await openSprintStore({ sprintDir, fold, now: Date.now })
  const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }
  mkdirSync(join(sprintDir, 'transcripts'), { recursive: true })
  const agent = {
    name: 'claude',
    transcriptPath: (name) => join(sprintDir, 'transcripts', name),
    async run({ attempt, transcript }) {
      noteAttempt(sprintDir, attempt, transcript)
      const text = answer(Number.parseInt(attempt) - skipped, steps)
      return { status: 'ok', text, usage, costUsd: 0, exitCode: 0 }
    },
  }
  const ports = {
    store: opened.store,
    agents: () => agent,
    limits: { limitedUntil: async () => undefined, record: async () => {} },
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
  const pending = progress.dynamicSteps.filter(({ status }) => status === 'pending').length
  if (pending !== steps && iterations > steps / stepsPerReport) throw new Error(`${pending} steps, not ${steps}`)
}

await printIfMain(import.meta.url, measure)
