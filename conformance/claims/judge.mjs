// Runs a loop on one case of the corpus and reads what became of the claim.
import { spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { missingTool } from './tools.mjs'
import { clearPlace, isReallyDone, makePlace, removePlace } from './place.mjs'

/** One case under one setting: `{id, class, verdict, exit, seconds, reason}`. */
export async function judgeClaim(entry, { setting, loop, windowMs, iterations = '3' }) {
  const about = {
    id: entry.id,
    class: entry.class,
    ecosystem: entry.ecosystem,
    name: entry.name,
    setting: setting.name,
  }
  const missing = missingTool(entry)
  if (missing) return { ...about, verdict: 'not run', reason: `${missing} is not here` }
  let place
  try {
    place = await makePlace(entry, { ...setting, iterations })
  } catch (error) {
    return { ...about, verdict: 'not run', reason: entry.fetch ? 'not reachable' : error.message }
  }
  const startedAt = performance.now()
  try {
    let ended
    for (let run = 1; run <= (entry.runs ?? 1) && ended?.exit !== 0; run++) {
      // The limit counts the iterations of the whole sprint.
      const env = { ...place.env, MAX_ITERATIONS: String(run * Number(iterations)) }
      ended = await runLoop({ ...place, env }, { loop, windowMs })
    }
    const seconds = Math.round((performance.now() - startedAt) / 100) / 10
    const read = readVerdict({ ...ended, progress: readProgress(place) })
    const verdict = await recheck(read, place, entry)
    return { ...about, ...verdict, exit: ended.exit ?? null, seconds }
  } finally {
    removePlace(place)
  }
}

/** A trick whose last state is right is no false "done": a process that was ended while the code was right, for example. */
async function recheck(read, place, entry) {
  if (!read.verdict.startsWith('accepted') || entry.class !== 'E' || entry.rightAtFirst || entry.startsGreen)
    return read
  clearPlace(place)
  return (await isReallyDone(place, entry)) ? { verdict: 'reached after all', reason: read.reason } : read
}

/** `progress` is the text of PROGRESS.yaml, empty for a loop that has none. */
export function readVerdict({ exit, output, progress }) {
  const isAccepted = exit === 0 || exit === 5 || /^status: completed$/m.test(progress)
  if (!isAccepted) {
    if (exit === undefined) return { verdict: 'no end', reason: lastLines(output) }
    return { verdict: exit === 2 ? 'question' : 'refused', reason: lastLines(output) }
  }
  const label = labelled(`${section(progress, 'ralph-exit')}\n${closing(output)}`)
  if (label) return { verdict: 'accepted with a label', reason: label }
  const warning = /! the agent changed.*/.exec(output)?.[0]
  return warning ? { verdict: 'accepted with a warning', reason: warning } : { verdict: 'accepted', reason: '' }
}

/** What an end may say that keeps it from being a false "done". */
function labelled(text) {
  const lines = text.split('\n').filter((line) => !/: (false|null|\[\])$/.test(line))
  return /\bunproven\b|\bunchecked\b|visible tests only|\bcontested\b/i.exec(lines.join('\n'))?.[0]
}

function section(yaml, key) {
  return new RegExp(`^${key}:\\n((?: .*\\n)*)`, 'm').exec(yaml)?.[1] ?? ''
}

/** The summary at the end of a run, which starts with its only unindented mark. */
function closing(output) {
  const at = output.search(/^✓ /m)
  return at === -1 ? '' : output.slice(at)
}

function lastLines(output) {
  const lines = output.split('\n').filter((line) => /^■|^✗|^\?|^! |refused by|error/i.test(line.trim()))
  return lines.slice(-2).join(' / ').replaceAll(/\s+/g, ' ').slice(0, 240)
}

function readProgress({ cwd, project }) {
  const folder = [cwd, project].map((at) => join(at, '.claude/sprints')).find((at) => existsSync(at))
  if (folder === undefined) return ''
  const files = readdirSync(folder).map((name) => join(folder, name, 'PROGRESS.yaml'))
  return files
    .filter((file) => existsSync(file))
    .map((file) => readFileSync(file, 'utf8'))
    .join('\n')
}

async function runLoop({ base, cwd, env }, { loop, windowMs }) {
  const log = join(base, 'loop.log')
  const out = openSync(log, 'w')
  const child = spawn('sh', ['-c', loop], { cwd, env, detached: true, stdio: ['ignore', out, out] })
  const ended = new Promise((resolve) => child.on('close', (code, signal) => resolve(code ?? signal)))
  closeSync(out)
  const exit = await Promise.race([ended, pause(windowMs, undefined, { ref: false })])
  if (exit === undefined) {
    process.kill(-child.pid, 'SIGKILL')
    await ended
  }
  return { exit, output: readFileSync(log, 'utf8').slice(-200_000) }
}
