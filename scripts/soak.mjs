// Many sprints with agents that misbehave, and runs that are killed at random, for hours. At the end every sprint must complete,
// every rule of `ralph doctor` must hold, no step may be lost or doubled, nothing may be left running, and memory, open files
// and bytes per iteration must not have grown.
//
// A third of the concurrent runs is never killed, to watch their memory. Of these, the first and every second one after it have a plan
// of constant size: their heap after a full collection must not grow. The others get new steps, which they have to remember.
//
//   npm run soak -- --hours 8 [--sprints 50] [--at-once 6] [--seed N] [--json]
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { makePlace } from '../conformance/judge.mjs'
import { openReferee } from '../conformance/referee.mjs'
import { measureBytes, measureGrowth, heapNotes, findLeak, takeSample, fitSlope } from './soak-measures.mjs'

const { values } = parseArgs({
  options: {
    hours: { type: 'string', default: '8' },
    sprints: { type: 'string', default: '50' },
    'at-once': { type: 'string', default: '6' },
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    json: { type: 'boolean', default: false },
  },
})
const random = createRandom(Number(values.seed))
const root = fileURLToPath(new URL('..', import.meta.url))
const durationMs = Number(values.hours) * 3_600_000
const concurrency = Number(values['at-once'])
const steadyCount = Math.max(1, Math.floor(concurrency / 3))
const probe = fileURLToPath(new URL('heap-probe.cjs', import.meta.url))
const deadline = Date.now() + durationMs
const sampleMs = Math.min(5000, durationMs / 20)

/** How often each fault is played. A run that is never killed gets only faults that a run survives. */
const survivable = {
  part: 60,
  busy: 8,
  lie: 6,
  empty: 4,
  echo: 4,
  'wrong-ids': 4,
  crash: 3,
  limit: 2,
  hang: 1,
}
const weights = { steady: survivable, killed: { ...survivable, question: 4, 'not-logged-in': 2 } }

let isEnding = false
const counts = { runs: 0, SIGKILL: 0, SIGTERM: 0, SIGINT: 0 }
const exits = {}
const complaints = []
const base = mkdtempSync(join(tmpdir(), 'ralph-soak-'))
const ralph = copyOfTheProgram()
const sprints = []
for (let n = 0; n < Number(values.sprints); n++) sprints.push(await createSprint(n))

console.error(
  `${sprints.length} sprints, ${concurrency} at once, seed ${values.seed}, until ${new Date(deadline).toISOString()}`,
)
const sampling = sample()
const [steady, others] = [sprints.slice(0, steadyCount), sprints.slice(steadyCount)]
await Promise.all([
  ...steady.map(keepRunning),
  ...Array.from({ length: Math.min(concurrency - steadyCount, others.length) }, () => killInTurn(others)),
])
await sampling
isEnding = true
await inTurns(sprints, complete)
await inTurns(sprints, examine)
const report = createReport()
console.log(values.json ? JSON.stringify(report, undefined, 2) : lines(report).join('\n'))
for (const { referee, place } of sprints) {
  referee.close()
  if (complaints.length === 0) rmSync(place.base, { recursive: true, force: true, maxRetries: 5 })
}
if (complaints.length === 0) rmSync(base, { recursive: true, force: true })
process.exit(complaints.length === 0 ? 0 : 1)

/** Works on a copy: a build may happen during the soak. */
function copyOfTheProgram() {
  for (const name of ['bin', 'assets', 'package.json']) cpSync(join(root, name), join(base, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(base, 'node_modules'))
  return join(base, 'bin/cli/main.cjs')
}

async function createSprint(number) {
  const kind = number < steadyCount ? 'steady' : 'killed'
  const hasGrowingPlan = kind === 'killed' || number % 2 === 1
  const sprint = { name: `sprint ${number}`, kind, hasGrowingPlan, samples: [], sizes: [], terms: [], steps: 0 }
  sprint.referee = await openReferee((call) => choosePlay(sprint, call))
  sprint.place = makePlace(sprint.referee.address)
  sprint.dir = join(sprint.place.project, 's')
  mkdirSync(sprint.dir)
  const settings = {
    workflow: 'ralph',
    goal: 'last',
    agent: 'claude',
    'done-when': [{ run: 'sh check.sh' }],
    timeouts: { idle: '6s', 'after-result': '1s' },
    limits: { 'no-progress': 'off', 'failed-starts-per-hour': 1_000_000 },
    checkpoint: number % 3 === 0,
  }
  writeFileSync(join(sprint.dir, 'SPRINT.yaml'), JSON.stringify(settings))
  return sprint
}

function choosePlay(sprint, call) {
  if (isEnding) return { fault: 'work' }
  const fault = random.choose(weights[sprint.kind])
  const addsStep = fault === 'part' && random.below(100) < 15
  const step = addsStep && sprint.hasGrowingPlan ? `${sprint.name} call ${call}` : undefined
  // Sometimes the exit of a process that printed everything never comes.
  const lingers = fault === 'part' && random.below(100) < 3
  // The number that makes `wrong-ids` name wrong ones each time.
  return { fault, number: 1, resetsAt: Math.ceil(Date.now() / 1000) + 5, step, lingers }
}

function start(sprint, ...args) {
  const { project } = sprint.place
  const { flags, env } =
    sprint.kind === 'steady' && args[0] === 'run' ? watched(sprint) : { flags: [], env: sprint.place.env }
  const child = spawn(process.execPath, [...flags, ralph, ...args], {
    cwd: project,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const output = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'])
    child[name].setEncoding('utf8').on('data', (text) => (output[name] = (output[name] + text).slice(-1_000_000)))
  const ended = new Promise((resolve) =>
    child.on('close', (code, signal) => resolve({ exit: code ?? signal, ...output })),
  )
  return { child, ended }
}

function watched({ place }) {
  const env = { ...place.env, HEAP_NOTES: heapFile(place), HEAP_NOTES_MS: String(Math.min(15_000, durationMs / 20)) }
  return { flags: ['--expose-gc', '--require', probe], env }
}

function heapFile({ base: folder }) {
  return join(folder, 'heap.jsonl')
}

function startRun(sprint) {
  counts.runs++
  const { child, ended } = start(sprint, 'run', 's', '--plain')
  sprint.run = { pid: child.pid, samples: [], begun: Date.now() }
  sprint.samples.push(sprint.run.samples)
  return { child, ended: ended.then((end) => note(sprint, end)) }
}

async function note(sprint, { exit, stderr }) {
  sprint.run = undefined
  exits[exit] = (exits[exit] ?? 0) + 1
  // By its name, if the signal came before Node was up.
  if (![0, 1, 2, 4, 130, 'SIGKILL', 'SIGTERM', 'SIGINT'].includes(exit))
    complaints.push(`${sprint.name}: a run ended with ${exit}: ${stderr.slice(-500)}`)
  if (exit === 2) await start(sprint, 'answer', 's', 'go on').ended
  return exit
}

async function keepRunning(sprint) {
  while (Date.now() < deadline) {
    const { child, ended } = startRun(sprint)
    await Promise.race([ended, pause(deadline - Date.now())])
    if (sprint.run) child.kill('SIGINT')
    await ended
  }
}

async function killInTurn(resting) {
  while (Date.now() < deadline) {
    const sprint = resting.shift()
    const { child, ended } = startRun(sprint)
    const lifeMs = Math.min(500 + random.below(20_000), deadline - Date.now())
    const isOver = await Promise.race([ended.then(() => true), pause(lifeMs, false)])
    if (!isOver) end(sprint, child)
    // A run that should finish its iteration may wait for a hanging agent, or for a limit; then ask again.
    if (!(await Promise.race([ended.then(() => true), pause(15_000, false)]))) end(sprint, child, 'SIGTERM')
    await ended
    resting.push(sprint)
  }
}

function end(sprint, child, signal = random.choose({ SIGKILL: 6, SIGTERM: 2, SIGINT: 2 })) {
  counts[signal]++
  if (signal === 'SIGTERM') sprint.terms.push(Date.now())
  child.kill(signal)
}

async function sample() {
  for (let n = 0; Date.now() < deadline; n++) {
    for (const sprint of sprints) {
      const found = sprint.run && takeSample(sprint.run.pid)
      if (found) sprint.run.samples.push({ at: Date.now(), ...found })
      if (sprint.kind === 'steady' && n % 10 === 0)
        sprint.sizes.push({ calls: sprint.referee.calls.length, bytes: measureBytes(sprint.dir) })
    }
    await pause(sampleMs)
  }
}

/** From now on the agent works: every sprint gets to its end. */
async function complete(sprint) {
  for (let tries = 0; tries < 10; tries++) if ((await startRun(sprint).ended) === 0) return
  complaints.push(`${sprint.name} does not complete`)
}

async function examine(sprint) {
  const { exit, stdout, stderr } = await start(sprint, 'doctor', 's', '--json').ended
  const findings = exit === 0 || stdout ? JSON.parse(stdout).sprint.findings : [{ level: 'broken', text: stderr }]
  for (const { level, invariant, text } of findings)
    if (level === 'broken') complaints.push(`${sprint.name}: ${invariant} ${text}`)
  if (sprint.referee.alive() > 0) complaints.push(`${sprint.name}: ${sprint.referee.alive()} processes are left`)
  const progress = parse(readFileSync(join(sprint.dir, 'PROGRESS.yaml'), 'utf8'))
  sprint.iterations = progress.stats['current-iteration']
  const seen = groups(progress['dynamic-steps'], ({ prompt }) => prompt)
  for (const call of sprint.referee.calls) {
    const { step } = call.instruction
    if (step === undefined) continue
    sprint.steps++
    const times = seen.get(step)?.length ?? 0
    const mayBeMissing = !call.isOver || sprint.terms.some((at) => Math.abs(call.endedAt - at) < 15_000)
    if (times > 1 || (times === 0 && !mayBeMissing))
      complaints.push(`${sprint.name}: step "${step}" is there ${times} times`)
  }
}

function createReport() {
  const calls = sprints.flatMap(({ referee }) => referee.calls)
  for (const sprint of sprints) complaints.push(...overlaps(sprint))
  // Of each steady run, without the first fifth: caches fill and V8 finds its size.
  const series = sprints
    .filter(({ kind }) => kind === 'steady')
    .flatMap(({ samples }) => samples.map((all) => all.slice(all.length / 5)))
  const long = series.filter((all) => all.length >= 20)
  const heaps = sprints.filter(({ kind }) => kind === 'steady').map(readHeap)
  for (const { name, plan, leak } of heaps) if (plan === 'keeps its size' && leak) complaints.push(`${name}: ${leak}`)
  const all = sprints.flatMap(({ samples }) => samples.flat())
  return {
    hours: durationMs / 3_600_000,
    seed: Number(values.seed),
    sprints: sprints.length,
    ...counts,
    exits,
    iterations: sprints.reduce((sum, { iterations }) => sum + iterations, 0),
    calls: calls.length,
    steps: sprints.reduce((sum, { steps }) => sum + steps, 0),
    plays: Object.fromEntries(
      [...groups(calls, ({ instruction }) => instruction.fault)].map(([name, of]) => [name, of.length]),
    ),
    memoryMb: { most: Math.max(...all.map(({ rss }) => rss)), perHour: long.map((one) => fitSlope(one, 'rss')) },
    heaps,
    openFiles: { most: Math.max(...all.map(({ files }) => files)), perHour: long.map((one) => fitSlope(one, 'files')) },
    diskBytesPerCall: sprints.filter(({ kind }) => kind === 'steady').map(({ sizes }) => measureGrowth(sizes)),
    longestSteadyRunMinutes: Math.max(...series.map((one) => minutes(one))),
    complaints,
  }
}

function overlaps({ name, referee: { calls } }) {
  const formatCall = ({ number, instruction: { fault, lingers } }) =>
    `${number} (${fault}${lingers ? ', lingers' : ''})`
  return calls
    .filter(({ besides }) => besides > 0)
    .map((call) => {
      const others = call.others.map((number) => calls[number - 1])
      const gone = others.map(({ endedAt }) =>
        endedAt === undefined ? 'never' : `${endedAt - call.startedAt} ms later`,
      )
      return `${name}: call ${formatCall(call)} began while ${others.map(formatCall).join()} lived, which ended ${gone.join()}`
    })
}

/** What the longest run of a steady sprint kept after full collections. */
function readHeap({ name, place, hasGrowingPlan, iterations, steps }) {
  const plan = hasGrowingPlan ? 'grows' : 'keeps its size'
  const notes = heapNotes(heapFile(place))
  const [first, last] = [notes[0]?.heap, notes.at(-1)?.heap]
  const perHour = notes.length < 20 ? undefined : fitSlope(notes.slice(notes.length / 5), 'heap')
  return { name, plan, iterations, steps, firstMb: first, lastMb: last, mbPerHour: perHour, leak: findLeak(notes) }
}

function minutes(one) {
  return one.length === 0 ? 0 : Math.round((one.at(-1).at - one[0].at) / 6000) / 10
}

function lines({ complaints: found, ...figures }) {
  const rows = Object.entries(figures).map(([name, value]) => `${name.padEnd(24)} ${JSON.stringify(value)}`)
  return [...rows, ...(found.length === 0 ? ['every rule holds'] : found.map((text) => `BROKEN ${text}`))]
}

function groups(list, readKey) {
  const found = new Map()
  for (const one of list) found.set(readKey(one), [...(found.get(readKey(one)) ?? []), one])
  return found
}

async function inTurns(list, work) {
  const waiting = [...list]
  await Promise.all(
    Array.from({ length: Math.min(concurrency, 4) }, async () => {
      for (let one = waiting.shift(); one; one = waiting.shift()) await work(one)
    }),
  )
}

/** Mulberry32. */
function createRandom(seed) {
  let state = seed | 0
  const next = () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296
  }
  const below = (end) => Math.floor(next() * end)
  const choose = (weighted) => {
    let left = below(Object.values(weighted).reduce((sum, weight) => sum + weight))
    return Object.keys(weighted).find((name) => (left -= weighted[name]) < 0)
  }
  return { below, choose }
}
