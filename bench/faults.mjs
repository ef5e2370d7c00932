// What Ralph does about an agent that misbehaves: the real program against a fake agent, with Ralph's own settings and pauses.
// Usage: npm run bench:faults [-- <part of a name> …]     About a minute; exit code 1 if a row is not as it should be.
import { spawn } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse, stringify } from 'yaml'

const root = fileURLToPath(new URL('..', import.meta.url))
const ralph = join(root, 'bin/cli/main.cjs')
const fakeAgent = join(root, 'test/fixtures/agents/claude.mjs')
const atOnce = 4
const longestMs = 120_000

const proceed = { status: 'continue', summary: 'still at it' }
const claim = { status: 'goal-complete', summary: 'f', goalCompleteSummary: 'all tests pass' }
const events = (...lines) => lines.map((line) => JSON.stringify(line))
const refused = (status, result) => ({ type: 'result', is_error: true, api_error_status: status, result })
const resetsAt = Math.ceil(Date.now() / 1000) + 20
const limit = { status: 'rejected', resetsAt, rateLimitType: 'five_hour', isUsingOverage: false }

const faults = [
  {
    name: 'lie',
    agent: 'says "all tests pass"; the tests are red',
    answer: 'refuses, the output of the check is the next prompt; nothing changes: reflects, then asks',
    sprint: { 'done-when': [{ run: 'echo 1 failing; exit 1', name: 'npm test' }] },
    answers: { '*': claim },
    expect: { starts: 6, exit: 2, status: 'needs-human' },
  },
  {
    name: 'limit',
    agent: 'is at its usage limit, then works',
    answer: 'parks, wakes at the reset, no iteration consumed',
    answers: {
      1: { lines: events({ type: 'rate_limit_event', rate_limit_info: limit }, refused(429, 'limit')), exit: 1 },
      2: claim,
    },
    expect: { starts: 2, exit: 0, status: 'completed', iterations: 1 },
  },
  {
    name: 'crash',
    agent: 'crashes (exit 1), always',
    answer: 'tries again after 2, 4, 8, 16 s, then stops with the reason',
    answers: { '*': { stderr: 'API Error 500\n', exit: 1 } },
    expect: { starts: 5, exit: 1, status: 'failed', iterations: 1 },
  },
  {
    name: 'auth',
    agent: 'is not logged in',
    answer: 'asks at once',
    answers: { '*': { lines: events(refused(401, 'Please run /login')), exit: 1 } },
    expect: { starts: 1, exit: 2, status: 'needs-human' },
  },
  {
    name: 'echo',
    agent: 'repeats its prompt, always',
    answer: 'takes it for no report; asks for one; nothing changes: reflects, then asks a human',
    answers: { '*': { echoes: true } },
    expect: { starts: 12, exit: 2, status: 'needs-human', iterations: 6 },
  },
  {
    name: 'empty',
    agent: 'answers nothing, always',
    answer: 'asks for the report; nothing changes: reflects, then asks a human',
    answers: { '*': '' },
    expect: { starts: 12, exit: 2, status: 'needs-human', iterations: 6 },
  },
  {
    name: 'busy',
    agent: 'says "still at it", changes nothing, always',
    answer: 'notices no progress, reflects, then asks a human',
    answers: { '*': proceed },
    expect: { starts: 6, exit: 2, status: 'needs-human', iterations: 6 },
  },
  {
    name: 'hang',
    agent: 'hangs, always, with a child that left its session',
    answer: 'ends the whole tree, tries again twice, then stops with the reason',
    sprint: { timeouts: { idle: '1s' } },
    answers: { '*': { run: 'setsid sleep 600 & sleep 600' } },
    expect: { starts: 3, exit: 1, status: 'failed', iterations: 1 },
  },
  {
    name: 'linger',
    agent: 'gives its result, but does not exit',
    answer: 'takes the result, ends the process',
    sprint: { timeouts: { 'after-result': '1s' } },
    answers: { '*': { report: claim, lingers: true } },
    expect: { starts: 1, exit: 0, status: 'completed' },
  },
  {
    name: 'flood',
    agent: 'prints without end',
    answer: 'ends it at 1 GiB and stops with the reason',
    program: '#!/bin/sh\ncat >/dev/null\nexec yes\n',
    expect: { starts: 1, exit: 1, status: 'failed' },
  },
  {
    name: 'question',
    agent: 'asks a question',
    answer: 'rests until it is answered',
    answers: { '*': { status: 'needs-human', summary: 's', humanNeeded: { reason: 'Which database?', details: 'd' } } },
    expect: { starts: 1, exit: 2, status: 'needs-human' },
  },
  {
    name: 'ids',
    agent: 'names steps that are not there, then claims',
    answer: 'drops and records them, takes the rest',
    answers: { 1: { ...proceed, completedStepIds: ['step-99'], pendingSteps: [{ id: 'x', prompt: 'y' }] }, 2: claim },
    expect: { starts: 2, exit: 0, status: 'completed' },
  },
]

/** One sprint in a folder of its own, from its start until it rests. */
async function play(fault) {
  const base = mkdtempSync(join(tmpdir(), 'ralph-faults-'))
  const at = (...names) => join(base, ...names)
  for (const folder of ['project/s', 'fake', 'bin', 'home']) mkdirSync(at(folder), { recursive: true })
  writeFileSync(at('project/s/SPRINT.yaml'), stringify({ workflow: 'ralph', goal: 'g', ...fault.sprint }))
  writeFileSync(
    at('fake/script.json'),
    JSON.stringify({ answers: fault.answers ?? {}, progress: at('project/s/PROGRESS.yaml') }),
  )
  writeFileSync(
    at('bin/claude'),
    fault.program ?? `#!/bin/sh\nexec '${process.execPath}' '${fakeAgent}' '${at('fake')}' "$@"\n`,
  )
  chmodSync(at('bin/claude'), 0o755)
  const env = {
    PATH: [at('bin'), dirname(process.execPath), process.env.PATH].join(':'),
    HOME: at('home'),
    IS_SANDBOX: '1',
  }
  const started = performance.now()
  const child = spawn(process.execPath, [ralph, 'run', 's'], { cwd: at('project'), env, stdio: 'ignore' })
  const late = setTimeout(() => child.kill('SIGKILL'), longestMs)
  const exit = await new Promise((resolve) => child.on('close', resolve))
  clearTimeout(late)
  const seconds = (performance.now() - started) / 1000
  const progress = parse(readFileSync(at('project/s/PROGRESS.yaml'), 'utf8'))
  const starts = readdirSync(at('project/s/attempts')).filter((name) => /^\d+-\d+$/.test(name)).length
  const left = processesOf(base)
  const woke =
    starts > 1 ? statSync(at('project/s/attempts/1-2/prompt.md'), { throwIfNoEntry: false })?.mtimeMs : undefined
  rmSync(base, { recursive: true, force: true, maxRetries: 5 })
  return { starts, exit, status: progress.status, iterations: progress.stats['current-iteration'], left, seconds, woke }
}

/** What carries the mark of an attempt and still lives. */
function processesOf(base) {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false
    try {
      return readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`RALPH_ATTEMPT=${base}/`)
    } catch {
      return false
    }
  }).length
}

const wanted = process.argv.slice(2)
const chosen = faults.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
const results = new Map()
const waiting = [...chosen]
await Promise.all(
  Array.from({ length: atOnce }, async () => {
    for (let fault = waiting.shift(); fault; fault = waiting.shift()) results.set(fault, await play(fault))
  }),
)

const isRight = (fault) => {
  const got = results.get(fault)
  return got.left === 0 && Object.entries(fault.expect).every(([name, value]) => got[name] === value)
}
const rows = chosen.map((fault) => {
  const { starts, exit, status, iterations, left, seconds } = results.get(fault)
  return [
    fault.agent,
    fault.answer,
    starts,
    iterations,
    exit,
    status,
    left,
    `${seconds.toFixed(1)} s`,
    isRight(fault) ? '✓' : '✗',
  ]
})
const heads = ['the agent …', 'Ralph …', 'starts', 'iterations', 'exit', 'final status', 'left behind', 'took', '']
const table = [heads, heads.map(() => '---'), ...rows]
for (const row of table) console.log(`| ${row.join(' | ')} |`)
const limited = results.get(faults.find(({ name }) => name === 'limit'))
if (limited?.woke)
  console.log(`\nafter the usage limit: woke ${Math.round(limited.woke - resetsAt * 1000)} ms after the reset`)
const wrong = chosen.filter((fault) => !isRight(fault))
for (const fault of wrong) {
  console.log(`\n${fault.name}: expected ${JSON.stringify(fault.expect)}, got ${JSON.stringify(results.get(fault))}`)
}
process.exitCode = wrong.length === 0 ? 0 : 1
