// A real terminal (tmux) with the project of the demo in it.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const socket = `ralph-screens-${process.pid}`
const base = mkdtempSync(join(tmpdir(), 'ralph-screens-'))
export const sprint = '.claude/sprints/2026-11-15_pancakes'

/** Starts a terminal, types the command, and calls `use` with functions that read the screen with its colours and press keys. */
export async function openTerminal({ command, scenario, pace = 60, columns, rows }, use) {
  const project = layOut(scenario, pace)
  const session = `s${columns}-${Date.now()}`
  tmux('-f', '/dev/null', 'new-session', '-d', '-s', session, '-x', String(columns), '-y', String(rows), 'sh')
  tmux('set-option', '-t', session, 'status', 'off')
  tmux('resize-window', '-t', session, '-x', String(columns), '-y', String(rows))
  const setup = `cd ${project}; PATH=${base}:$PATH; PS1='$ '; unset IS_SANDBOX; export RALPH_HOME=${project}/../home-${session}; clear`
  tmux('send-keys', '-t', session, setup, 'Enter')
  await pause(300)
  tmux('send-keys', '-t', session, command, 'Enter')
  const read = () => tmux('capture-pane', '-e', '-p', '-t', session)
  const result = await use(read, (...keys) => tmux('send-keys', '-t', session, ...keys))
  tmux('kill-session', '-t', session)
  return result
}

/** The screen without its colours. */
export const plainText = (screen) => screen.replaceAll(/\u001b\[[0-9;]*m/g, '')

export function closeTerminals() {
  tmux('kill-server')
  rmSync(base, { recursive: true, force: true })
}

/** The project of the demo, with a sprint in it. */
function layOut(scenario, pace) {
  const project = mkdtempSync(join(base, 'project-'))
  const folder = join(project, sprint)
  cpSync(join(root, 'assets/demo/project'), project, { recursive: true })
  mkdirSync(folder, { recursive: true })
  cpSync(join(root, 'assets/demo/SPRINT.yaml'), join(folder, 'SPRINT.yaml'))
  const played = scenario ?? readFileSync(join(root, 'assets/demo/SCENARIO.yaml'), 'utf8').replace(/^pace: .*\n/m, '')
  writeFileSync(join(folder, 'SCENARIO.yaml'), `pace: ${pace}\n${played}`)
  writeFileSync(join(base, 'ralph'), `#!/bin/sh\nexec ${process.execPath} ${root}bin/cli/main.cjs "$@"\n`)
  chmodSync(join(base, 'ralph'), 0o755)
  const git = (...args) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: project })
  git('init', '--quiet', '--initial-branch=main')
  git('add', '--all')
  git('commit', '--quiet', '--message', 'A recipe library whose tests fail')
  return project
}

function tmux(...args) {
  const env = { ...process.env, LC_ALL: 'C.UTF-8', TERM: 'xterm-256color', TZ: 'UTC' }
  try {
    return execFileSync('tmux', ['-u', '-L', socket, ...args], {
      encoding: 'utf8',
      env,
      stdio: ['ignore', 'pipe', 'ignore'],
    })
  } catch (error) {
    if (args[0] === 'kill-server' || args[0] === 'kill-session') return ''
    throw error
  }
}
