// Takes screenshots of ralph in a real terminal (tmux): docs/images/*.svg for the README, docs/guide/terminal.md as text.
// Needs tmux and git; everything else is the demo. Takes about a minute: node scripts/screens.mjs
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { renderSvg } from './ansi-svg.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const sprint = '.claude/sprints/2026-11-15_pancakes'
const socket = `ralph-screens-${process.pid}`
const base = mkdtempSync(join(tmpdir(), 'ralph-screens-'))

/** One turn that ends in the state to show. */
const limitScenario = `turns:\n  - say: I look at the code first.\n    do:\n      - read: src/recipe.js\n      - limit: { resets-in: 7380 }\n`
const questionScenario = `turns:
  - say: The tests say nothing about rounding. A person has to decide.
    do:
      - read: test/pancakes.js
    report:
      status: needs-human
      summary: The rounding of eggs is a matter of taste.
      humanNeeded:
        reason: Half an egg, up or down?
        details: Five guests need 2 1/2 eggs. Both are easy, and no test says which one is meant.
        options: [up, down]
        default: up
`

const scenes = {
  before: {
    title: 'Before',
    about: 'The folder is compiled and checked; nothing runs yet.',
    keys: `cd ${sprint}; ralph compile . && ralph status .`,
    until: /written[\s\S]*not-started[\s\S]*\n\$ $/,
  },
  during: {
    title: 'During',
    about:
      'A claim was refused in iteration 4; the output of the red test is in the prompt of iteration 5. On the left what there is to do, on the right what goes on, below what has happened.',
    keys: `ralph run ${sprint}`,
    until: /5●[\s\S]*This time I run/,
    pace: 700,
  },
  after: {
    title: 'After',
    about: 'The upper part of the view stays, and how it ended follows.',
    keys: `ralph run ${sprint}`,
    until: /goal reached[\s\S]*\$ $/,
    pace: 60,
  },
  'limit-wait': {
    title: 'Waiting for a usage limit',
    about:
      'The vendor says when the limit ends. The sprint is parked until then, counts no iteration, and goes on by itself.',
    keys: `ralph run ${sprint}`,
    until: /parked, 2 h/,
    scenario: limitScenario,
  },
  question: {
    title: 'A question',
    about: 'The agent needs a person. The sprint rests with exit code 2 until it is answered.',
    keys: `ralph run ${sprint}`,
    until: /answer with: ralph answer[\s\S]*\$ $/,
    scenario: questionScenario,
  },
}

const sizes = [
  { name: '80x24', columns: 80, rows: 24 },
  { name: '200x50', columns: 200, rows: 50 },
]

try {
  mkdirSync(join(root, 'docs/images'), { recursive: true })
  for (const name of ['during', 'after', 'limit-wait', 'question']) {
    const picture = await shoot(scenes[name], { columns: 100, rows: 28 })
    console.log(`${name} at 100x28`)
    writeFileSync(
      join(root, `docs/images/${name}.svg`),
      renderSvg(picture, { columns: 100, title: `ralph run: ${name}` }),
    )
  }
  const text = []
  for (const scene of Object.values(scenes)) {
    text.push(`## ${scene.title}`, '', scene.about, '')
    for (const size of sizes) {
      const picture = (await shoot(scene, size)).replaceAll(/\u001b\[[0-9;]*m/g, '')
      console.log(`${scene.title} at ${size.name}`)
      text.push(`At ${size.columns} columns and ${size.rows} rows:`, '', '```text', ...linesOf(picture), '```', '')
    }
  }
  writeFileSync(join(root, 'docs/guide/terminal.md'), [...head(), ...text].join('\n'))
} finally {
  tmux('kill-server')
  rmSync(base, { recursive: true, force: true })
}

function head() {
  return [
    '# In the terminal',
    '',
    '<!-- Written by scripts/screens.mjs from a real terminal; npm run screens -->',
    '',
    '`ralph run` and `ralph watch` draw a live view on a terminal; `--plain`, `--json`, `TERM=dumb` and a pipe get lines instead. It fits itself to',
    'the size of the terminal and follows when that changes. `NO_COLOR` switches the colours off. The keys: `p` pause after this iteration, `s` stop',
    '(then when), `t` tell the agent something, `l` where the transcript is, `d` what has changed, `?` help. Ctrl-C once pauses after the',
    'iteration, twice stops now; in `ralph watch` it only leaves.',
    '',
    'In the strip of iterations: ✓ went on or accepted, ✗ refused or failed, ~ too early or without a report, ? asked, ■ interrupted, ● at work.',
    '',
    '![A sprint at work](../images/during.svg)',
    '',
  ]
}

function captureLines(picture) {
  return picture
    .trimEnd()
    .split('\n')
    .map((line) => line.trimEnd())
}

/** Plays a scene in a terminal of that size, and captures it with its colours once the expected text appears. */
async function shoot({ keys, until, scenario, pace = 60 }, { columns, rows }) {
  const project = layOut(scenario, pace)
  const session = `s${columns}-${Date.now()}`
  tmux('-f', '/dev/null', 'new-session', '-d', '-s', session, '-x', String(columns), '-y', String(rows), 'sh')
  tmux('set-option', '-t', session, 'status', 'off')
  tmux('resize-window', '-t', session, '-x', String(columns), '-y', String(rows))
  tmux(
    'send-keys',
    '-t',
    session,
    `cd ${project}; PATH=${base}:$PATH; PS1='$ '; unset IS_SANDBOX; export RALPH_HOME=${project}/../home-${session}; clear`,
    'Enter',
  )
  await pause(300)
  tmux('send-keys', '-t', session, keys, 'Enter')
  const picture = await seen(session, until)
  tmux('kill-session', '-t', session)
  return picture
}

async function seen(session, until) {
  const deadline = Date.now() + 120_000
  while (Date.now() < deadline) {
    if (until.test(tmux('capture-pane', '-p', '-t', session).trimEnd() + ' ')) {
      await pause(150)
      return tmux('capture-pane', '-e', '-p', '-t', session)
    }
    await pause(100)
  }
  throw new Error(`${until} was never seen:\n${tmux('capture-pane', '-p', '-t', session)}`)
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
  writeFileSync(join(base, 'ralph'), `#!/bin/sh\nexec ${process.execPath} ${root}dist/cli/main.js "$@"\n`)
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
