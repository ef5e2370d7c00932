import { execFileSync, spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { redOutput } from './faults.mjs'
import { openReferee } from './referee.mjs'

const here = fileURLToPath(new URL('.', import.meta.url))
const resetAfterMs = 15_000
/** Time for a loop, after its end, to end what it has started. */
const graceMs = 3000

/** One loop, one fault, in a folder of its own. */
export async function judge({ fault, agent, plays, wants }, { loop, windowMs }) {
  const resetsAt = Math.ceil((Date.now() + resetAfterMs) / 1000)
  const referee = await openReferee(() => ({ fault: plays ?? fault, resetsAt }))
  const place = makePlace(referee.address)
  const startedAt = performance.now()
  try {
    const first = start(loop, place)
    const exit =
      fault === 'kill' ? await killed(first, { loop, place, referee, windowMs }) : await within(first, windowMs)
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10
    await until(() => referee.alive() === 0, graceMs)
    const seen = { calls: referee.calls, exit, left: referee.alive(), resetsAt }
    const missed = wants.filter(([, holds]) => !holds(seen)).map(([sentence]) => sentence)
    const end = exit === undefined ? 'still going' : exit
    return {
      fault,
      agent,
      starts: seen.calls.length,
      end,
      left: seen.left,
      seconds,
      passed: missed.length === 0,
      missed,
    }
  } finally {
    referee.close()
    rmSync(place.base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

/** The project, a home and the agent. The check is red until an agent writes 42 into answer.txt. */
export function makePlace(address) {
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'conformance-')))
  const project = join(base, 'project')
  for (const folder of [project, join(base, 'bin'), join(base, 'home')]) mkdirSync(folder)
  cpSync(join(here, 'agent.mjs'), join(base, 'bin', 'agent.mjs'))
  const program = `#!/bin/sh\nexec '${process.execPath}' '${join(base, 'bin', 'agent.mjs')}' --referee ${address} "$@"\n`
  writeFileSync(join(base, 'bin', 'claude'), program, { mode: 0o755 })
  const goal = 'make the tests pass'
  writeFileSync(
    join(project, 'check.sh'),
    `grep -qx 42 answer.txt 2>/dev/null && exit 0\necho '${redOutput}'; exit 1\n`,
  )
  writeFileSync(
    join(project, 'PROMPT.md'),
    `${goal}: sh check.sh must exit with 0. When it does, say <promise>COMPLETE</promise>.\n`,
  )
  writeFileSync(join(project, 'package.json'), '{"name":"project","private":true,"scripts":{"test":"sh check.sh"}}\n')
  const env = {
    PATH: [join(base, 'bin'), dirname(process.execPath), process.env.PATH].join(':'),
    HOME: join(base, 'home'),
    LANG: 'C.UTF-8',
    // Claude Code refuses to work as root without it; some loops check for that.
    IS_SANDBOX: '1',
    GOAL: goal,
    CHECK: 'sh check.sh',
    PROMPT_FILE: join(project, 'PROMPT.md'),
    LOOPS: join(here, 'loops'),
    GIT_AUTHOR_NAME: 'c',
    GIT_AUTHOR_EMAIL: 'c@example.org',
    GIT_COMMITTER_NAME: 'c',
    GIT_COMMITTER_EMAIL: 'c@example.org',
  }
  const git = (...args) => execFileSync('git', args, { cwd: project, env, stdio: 'ignore' })
  git('init', '-q')
  git('add', '.')
  git('commit', '-qm', 'begin')
  return { base, project, env }
}

export function start(loop, { project, env }) {
  const child = spawn('sh', ['-c', loop], { cwd: project, env, detached: true, stdio: 'ignore' })
  const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
  return { pid: child.pid, ended }
}

/** Its exit code, or undefined if it had to be killed. */
async function within({ pid, ended }, windowMs) {
  const exit = await Promise.race([ended, pause(windowMs, undefined, { ref: false })])
  if (exit !== undefined) return exit
  signal(-pid, 'SIGTERM')
  const isGone = await Promise.race([ended.then(() => true), pause(10_000, false, { ref: false })])
  if (!isGone) signal(-pid, 'SIGKILL')
  await ended
  return undefined
}

/** Kills the loop alone, a second into the agent's work, and starts it again. */
async function killed({ pid, ended }, { loop, place, referee, windowMs }) {
  await Promise.race([until(() => referee.calls.length > 0, windowMs), ended])
  await pause(1000)
  signal(pid, 'SIGKILL')
  await ended
  return within(start(loop, place), windowMs)
}

async function until(holds, timeoutMs) {
  for (const startedAt = Date.now(); !holds() && Date.now() - startedAt < timeoutMs;) await pause(50)
}

function signal(pid, name) {
  try {
    process.kill(pid, name)
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}
