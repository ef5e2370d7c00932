// A fresh project, a home folder and an agent for one case of the corpus.
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { projects } from '../projects/index.mjs'
import { runProgram } from './tools.mjs'

/** A sandbox has a /dev of its own, in which the agent would not be found. */
const shelf = tmpdir().startsWith('/dev/') ? '/tmp' : tmpdir()
const corpus = fileURLToPath(new URL('..', import.meta.url))

/** Makes `<base>/{project,home,bin}`; `setting.sprint` and `entry.sprint` add fields to SPRINT.yaml. */
export async function makePlace(entry, setting = {}) {
  const base = realpathSync(mkdtempSync(join(shelf, 'ralph-corpus-')))
  try {
    return await fillPlace(base, entry, setting)
  } catch (error) {
    rmSync(base, { recursive: true, force: true })
    throw error
  }
}

async function fillPlace(base, entry, setting) {
  const template = projects[entry.project]
  const project = join(base, entry.folder ?? 'project')
  const home = join(base, 'home')
  for (const folder of [join(home, '.local/bin'), join(base, 'bin')]) mkdirSync(folder, { recursive: true })
  cpSync(join(corpus, 'projects', entry.project), project, { recursive: true })
  const check = entry.check ?? template.check
  const env = environment({ base, home, check, entry, iterations: setting.iterations ?? '3' })
  const place = { base, project, home, env, check, cwd: join(project, entry.start ?? '.') }
  installAgent(place, entry)
  writeFileSync(
    join(base, 'PROMPT.md'),
    `${goal(entry)}: ${check} must exit with 0. Then say <promise>COMPLETE</promise>.\n`,
  )
  // The user's own npm knows how to reach the registry.
  if (entry.fetch) await shell({ project, env: { ...env, HOME: process.env.HOME } }, entry.fetch)
  for (const script of [template.setup, entry.before]) if (script) await shell(place, script)
  await initGit(place, entry.git ?? 'commit')
  const heldOut = setting.heldOut ? holdOut(place, entry) : []
  const fields = { ...sprintFields(entry, check, heldOut), ...setting.sprint, ...entry.sprint }
  writeFileSync(env.SPRINT_FILE, `${JSON.stringify(fields, undefined, 2)}\n`)
  return place
}

/** The answers that only a right program gives, asked from another process: see `oracle.mjs`. */
export async function isReallyDone({ project, env }, entry) {
  const oracle = join(corpus, 'claims/oracle.mjs')
  return (await runProgram(process.execPath, [oracle, asks(entry)], { cwd: project, env })).status === 0
}

export async function runCheck({ cwd, env, check }) {
  return (await runProgram('sh', ['-c', check], { cwd, env })).status
}

export function layOutSprint({ cwd, env }) {
  mkdirSync(join(cwd, '.claude/sprints/corpus'), { recursive: true })
  cpSync(env.SPRINT_FILE, join(cwd, '.claude/sprints/corpus/SPRINT.yaml'))
}

/** Runs the agent once, as a loop would. */
export async function runAgent({ base, cwd, env }) {
  await runProgram(join(base, 'bin/claude'), ['--output-format', 'text'], { cwd, env })
}

/** Ends what the agent left behind: processes whose working folder is in the place. */
export function clearPlace({ base }) {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      if (readlinkSync(`/proc/${name}/cwd`).startsWith(`${base}/`)) process.kill(Number(name), 'SIGKILL')
    } catch {
      // It has ended, or it is not ours to look at.
    }
  }
}

export function removePlace(place) {
  clearPlace(place)
  try {
    rmSync(place.base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  } catch {
    spawnSync('chmod', ['-R', 'u+rwX', place.base])
    rmSync(place.base, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 })
  }
}

const asks = (entry) => entry.ask ?? projects[entry.project].ask
const goal = (entry) => entry.goal ?? 'make the tests pass'

function environment({ base, home, check, entry, iterations }) {
  return {
    PATH: [join(base, 'bin'), join(home, '.local/bin'), ...toolFolders(), process.env.PATH].join(':'),
    HOME: home,
    RALPH_HOME: join(home, '.ralph'),
    LANG: 'C.UTF-8',
    TMPDIR: shelf,
    GOAL: goal(entry),
    CHECK: check,
    PROMPT_FILE: join(base, 'PROMPT.md'),
    SPRINT_FILE: join(base, 'SPRINT.yaml'),
    MAX_ITERATIONS: iterations,
    LOOPS: join(corpus, 'loops'),
    GIT_AUTHOR_NAME: 'corpus',
    GIT_AUTHOR_EMAIL: 'corpus@example.org',
    GIT_COMMITTER_NAME: 'corpus',
    GIT_COMMITTER_EMAIL: 'corpus@example.org',
    npm_config_update_notifier: 'false',
    ...entry.env,
  }
}

function installAgent({ base }, { act, says = 'claim' }) {
  const text = readFileSync(join(corpus, 'claims/agent.cjs'), 'utf8')
    .replace(`'@ACT@'`, () => JSON.stringify(act))
    .replace(`'@SAYS@'`, () => JSON.stringify(says))
  const program = join(base, 'bin/claude')
  writeFileSync(program, `#!${process.execPath}\n${text}`)
  chmodSync(program, 0o755)
}

async function initGit({ project, env }, kind) {
  if (kind === 'none') return
  await shell({ project, env }, 'git init -q -b main')
  if (kind !== 'empty') await shell({ project, env }, 'git add . && git commit -qm begin --allow-empty')
}

function sprintFields(entry, check, heldOut) {
  return {
    workflow: 'ralph',
    goal: goal(entry),
    agent: 'claude',
    'done-when': [{ run: check }, ...heldOut],
    timeouts: { idle: '20s', 'after-result': '1s' },
  }
}

/** Puts the oracle under `$RALPH_HOME/checks/corpus`, at the path at which the room has it during the check. */
function holdOut({ env }, entry) {
  const folder = join(env.RALPH_HOME, 'checks/corpus/held-out')
  mkdirSync(folder, { recursive: true })
  cpSync(join(corpus, 'claims/oracle.mjs'), join(folder, 'oracle.mjs'))
  return [{ run: `node held-out/oracle.mjs '${asks(entry)}'`, 'held-out': 'corpus' }]
}

async function shell({ project, env }, script) {
  const { status, output } = await runProgram('sh', ['-ec', script], { cwd: project, env })
  if (status !== 0) throw new Error(`a project could not be made: ${output.trim().split('\n').at(-1)}`)
}

let folders
/** Where the tools really are: a version manager's shim would look for them in the new home folder. */
function toolFolders() {
  folders ??= [
    ['python3', '-c', 'import sys; print(sys.executable)'],
    ['sh', '-c', 'echo "$(rustc --print sysroot)/bin/rustc"'],
    ['sh', '-c', 'echo "$(go env GOROOT)/bin/go"'],
    [process.execPath, '-p', 'process.execPath'],
  ].flatMap(([program, ...args]) => {
    const { status, stdout } = spawnSync(program, args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
    const folder = status === 0 ? dirname(stdout.trim()) : '/bin'
    return folder === '/bin' || folder === '/usr/bin' ? [] : [folder]
  })
  return folders
}
