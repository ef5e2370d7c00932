// What does a long sprint cost at rest? Writes 20,000 iterations through the real loop, journal, event log and packing, each with an
// agent, a hook and a check whose files are as those of a real one; then counts files and bytes, and times the commands that read it.
// Usage: npm run bench -- history [-- --iterations 20000] [-- --unpacked] [-- --json]
//   --unpacked: as version 0.1 left it, with a folder per attempt, before the first run of this version
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { advance } from '../dist/loop/advance.js'
import { openSprintEvents } from '../dist/host/sprint-events.js'
import { runSprint } from '../dist/runtime/run-sprint.js'
import { stateFolder } from '../dist/platform/files/state-folder.js'
import { linkTranscript } from '../dist/platform/processes/attempt-folder.js'
import { openSprintStore } from '../dist/storage/sprint/sprint-store.js'
import { createHousekeeping } from '../dist/storage/sprint/prune-sprint.js'
import { benchEnv, memoryFolder, option, printIfMain, ralph, row, timed } from './measure.mjs'

const fold = (progress, fact) => advance(progress, fact).progress

export async function measure({
  iterations = option('iterations', 20_000),
  isUnpacked = process.argv.includes('--unpacked'),
} = {}) {
  const work = process.env.BENCH_FOLDER ?? memoryFolder()
  const project = join(work, 'project')
  const sprintDir = join(project, '.claude', 'sprints', 'long')
  process.env.RALPH_HOME = join(work, '.ralph')
  const place = { env: { ...benchEnv(work), RALPH_HOME: process.env.RALPH_HOME }, cwd: project }
  try {
    if (!existsSync(sprintDir)) await writeHistory(sprintDir, { iterations, isUnpacked }, place)
    const { files, bytes } = [sprintDir, stateFolder(sprintDir)].map(countFiles).reduce(add)
    const command = (words) => timed(`node ${ralph} ${words}`, place).cpu / 1000
    const many = `${iterations.toLocaleString('en')} ${isUnpacked ? 'unpacked ' : ''}iterations`
    const most = (atMost) => (isUnpacked ? {} : { atMost })
    return [
      row(`${many} at rest`, files, 'files', most(5000)),
      row(`${many} at rest`, bytes / 1e6, 'MB', most(200)),
      row(`ralph doctor at ${many}, CPU`, command('doctor long'), 's', { atMost: 2 }),
      row(`ralph status --all at ${many}, CPU`, command('status long --all'), 's', { atMost: 2 }),
      row(`ralph logs at ${many}, CPU`, command('logs long'), 's', { atMost: 2 }),
      row(`ralph report at ${many}, CPU`, command('report long'), 's', { atMost: 3 }),
      row(`report.html at ${many}`, statSync(join(sprintDir, 'report.html')).size / 1e6, 'MB', { atMost: 3 }),
    ]
  } finally {
    if (!process.env.BENCH_FOLDER) rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

const add = (a, b) => ({ files: a.files + b.files, bytes: a.bytes + b.bytes })

function countFiles(folder) {
  let [files, bytes] = [0, 0]
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue
    files++
    if (entry.isFile()) bytes += statSync(join(entry.parentPath, entry.name)).size
  }
  return { files, bytes }
}

const prompt = `You are one of many turns of a loop. Work on one step, then report.\n${'Keep the tests green. '.repeat(250)}`
const line = (n) =>
  JSON.stringify({
    type: 'assistant',
    message: { role: 'assistant', content: [{ type: 'text', text: `turn ${n} ${'did one thing; '.repeat(20)}` }] },
  })
const report = `\`\`\`json\n${JSON.stringify({ status: 'continue', summary: 'did one thing', pendingSteps: [] })}\n\`\`\``
const usage = { inputTokens: 1, outputTokens: 1, cacheReadTokens: 0, cacheWriteTokens: 0 }

async function writeHistory(sprintDir, { iterations, isUnpacked }, { env, cwd }) {
  mkdirSync(sprintDir, { recursive: true })
  const settings = {
    workflow: 'ralph',
    goal: 'g',
    agent: 'claude',
    'done-when': [{ run: 'true', name: 'quick', 'each-iteration': true, room: 'off' }],
    'per-iteration-hooks': [{ id: 'lint', run: 'true', parallel: false, enabled: true }],
    checkpoint: false,
    limits: { 'no-progress': 'off' },
    ralph: { 'idle-threshold': 1_000_000 },
  }
  writeFileSync(join(sprintDir, 'SPRINT.yaml'), JSON.stringify(settings))
  execFileSync('node', [ralph, 'compile', sprintDir], { env, cwd, stdio: 'inherit' })
  const { store, progress } = await openSprintStore({ sprintDir, fold, now: Date.now })
  const events = await openSprintEvents({ sprintDir, store, now: Date.now })
  const housekeeping = isUnpacked
    ? { onIterationEnd() {}, async finish() {} }
    : createHousekeeping({ project: cwd, sprintDir, sprintId: 'long', now: Date.now })
  const run = runSprint(progress, createPorts(sprintDir, { store, events, housekeeping }), {
    type: 'started',
    at: Date.now(),
    runLimits: { iterations },
  })
  const ended = await run.done
  await housekeeping.finish(ended)
  await events.close()
  await store.close()
  if (ended.stats.currentIteration !== iterations) throw new Error(`stopped at ${ended.stats.currentIteration}`)
}

function createPorts(sprintDir, { store, events, housekeeping }) {
  return {
    store,
    agents: () => ({
      name: 'claude',
      transcriptPath: (name) => join(sprintDir, 'transcripts', name),
      async run({ attempt, transcript, onEvent }) {
        writeAttempt(sprintDir, attempt, transcript)
        onEvent?.({ kind: 'text', text: 'did one thing' })
        return { status: 'ok', text: report, usage, costUsd: 0, exitCode: 0, resumable: false }
      },
    }),
    shell: {
      async run({ attempt, transcript }) {
        writeAttempt(sprintDir, attempt, transcript)
        return { exitCode: 0, output: '', durationMs: 1 }
      },
    },
    limits: { limitedUntil: async () => undefined, record: async () => {} },
    notes: async () => undefined,
    notify: async () => {},
    hookSlots: (work) => work(),
    clock: { now: Date.now, waitUntil: async () => {} },
    disk: { shortage: async () => undefined },
    projectFiles: { isFile: () => false, hash: async () => 'h', store: async () => 'h', restore: async () => {} },
    random: Math.random,
    observe(event) {
      events.record(event)
      if (event.type === 'iteration-ended') housekeeping.onIterationEnd(store.current())
    },
  }
}

/** The files that the supervisor leaves. */
function writeAttempt(sprintDir, attempt, transcript) {
  const folder = join(stateFolder(sprintDir), 'attempts', attempt)
  mkdirSync(folder, { recursive: true })
  const isAgent = /^\d+-\d+$/.test(attempt)
  const files = {
    'prompt.md': isAgent ? `${prompt}iteration ${attempt}` : '',
    'transcript.jsonl': isAgent ? Array.from({ length: 10 }, (_, n) => `${line(n)}\n`).join('') : 'ok\n',
    'stderr.log': '',
    pid: `4711 boot 4711 ${Date.now()}\n`,
    exit: '0\n',
  }
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text)
  const link = transcript ?? (attempt.includes('-hook-') ? `iter-${attempt.replace('-hook-', '-')}.jsonl` : undefined)
  if (link !== undefined) linkTranscript(join(sprintDir, 'transcripts', link), folder)
}

await printIfMain(import.meta.url, measure)
