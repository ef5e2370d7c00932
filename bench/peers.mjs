// Ralph beside its peers on npm, with the same agents: what an iteration costs, and what happens when the agent misbehaves.
// Writes its part of docs/benchmarks.md; use a quiet machine. Takes about ten minutes and installs the peers into .cache/peers.
// Usage: npm run bench:peers [-- --rounds 4]
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { conformance } from '../conformance/run.mjs'
import {
  benchEnv,
  diskFolder,
  endlessSprint,
  machine,
  median,
  memoryFolder,
  option,
  printProgress,
  ralph,
  timed,
  tinyAgent,
} from './measure.mjs'
import { today, versions, writePart } from './page-part.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const peers = join(root, '.cache/peers')
const pinned = { 'ralph-tui': '0.11.0', 'ralphy-cli': '4.7.2', bun: '1.4.4' }
const faults = ['lie', 'limit', 'crash', 'echo', 'empty', 'kill']
const [few, many] = [20, 120]
const rounds = option('rounds', 4)
const windowSeconds = 60
const on = machine()
let agentIn

const loops = {
  'Ralph Mode': {
    faulty: 'exec sh "$LOOPS/ralph.sh"',
    runs: (dir, count) => `node ${ralph} run ${endlessSprint(dir)} --max-iterations ${count} --json`,
  },
  'ralph-tui': {
    faulty: `PEERS='${peers}' exec sh "$LOOPS/ralph-tui.sh"`,
    runs: (dir, count) => {
      const story = (n) => ({
        id: `US-${n}`,
        title: `task ${n}`,
        description: 'd',
        acceptanceCriteria: [],
        priority: n,
        passes: false,
      })
      const userStories = Array.from({ length: count }, (_, n) => story(n + 1))
      put(dir, 'prd.json', JSON.stringify({ name: 'bench', branchName: 'bench', userStories }))
      const flags = '--headless --no-setup --agent claude --iterations 0 --delay 0'
      return `cd ${dir} && ${peers}/node_modules/.bin/bun ${peers}/node_modules/ralph-tui/dist/cli.js run --prd prd.json ${flags}`
    },
  },
  ralphy: {
    faulty: `PEERS='${peers}' exec sh "$LOOPS/ralphy.sh"`,
    runs: (dir, count) => {
      const tasks = Array.from({ length: count }, (_, n) => `  - title: task ${n}\n    completed: false\n`)
      put(dir, 'tasks.yaml', `tasks:\n${tasks.join('')}`)
      return `cd ${dir} && git init -q . && ${peers}/node_modules/.bin/ralphy --claude --yaml tasks.yaml --fast --no-commit`
    },
  },
}

install()
const overheads = costs()
const verdicts = await misbehaviour()
const text = page()
writePart('peers', text)
console.log(text)

function install() {
  const readVersion = (name) => {
    const file = join(peers, 'node_modules', name, 'package.json')
    return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')).version : undefined
  }
  const missing = Object.entries(pinned).filter(([name, version]) => readVersion(name) !== version)
  if (missing.length === 0) return
  mkdirSync(peers, { recursive: true })
  const packages = Object.entries(pinned).map(([name, version]) => `${name}@${version}`)
  execFileSync('npm', ['install', '--no-save', '--no-audit', '--no-fund', '--prefix', peers, ...packages], {
    stdio: 'inherit',
  })
}

function put(dir, name, content) {
  mkdirSync(dir, { recursive: true })
  writeFileSync(join(dir, name), content)
}

/**
 * Rounds in turns, each round in another order, on the disk and in memory. CPU per iteration: the difference between many and few,
 * which excludes the start. Interval: the median time between two starts of the agent, as recorded by the agent.
 */
function costs() {
  const bare = (count) => `sh -c 'i=0; while [ $i -lt ${count} ]; do claude </dev/null; i=$((i+1)); done'`
  const all = { 'a bare `while` loop': { runs: (_, count) => bare(count) }, ...loops }
  const samples = Object.fromEntries(Object.keys(all).map((name) => [name, { disk: [], memory: [] }]))
  for (const [kind, create] of Object.entries({ disk: diskFolder, memory: memoryFolder })) {
    const work = create()
    // A sandbox lets an agent write only in its working folder.
    const times = join(work, 'times')
    const place = { env: benchEnv(work), cwd: work }
    try {
      agentIn = tinyAgent(work, times)
      for (let round = 0; round < rounds; round++) {
        const names = Object.keys(all)
        for (const name of [...names.slice(round % names.length), ...names.slice(0, round % names.length)]) {
          printProgress(`round ${round + 1} of ${rounds}, ${kind}: ${name}`)
          const dir = (count) => join(work, `${name.replaceAll(/\W/g, '')}-${count}-${round}`)
          const short = timed(all[name].runs(dir(few), few), place).cpu
          writeFileSync(times, '')
          const cpu = (timed(all[name].runs(dir(many), many), place).cpu - short) / (many - few)
          samples[name][kind].push({ cpu, interval: interval(times), start: Math.max(0, short - cpu * few) })
        }
      }
    } finally {
      rmSync(work, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  return Object.entries(samples).map(([name, found]) => ({ name, ...found }))
}

function interval(file) {
  const starts = readFileSync(file, 'utf8').trim().split('\n').map(Number)
  if (starts.length < many) return Number.NaN
  return median(starts.slice(1).map((at, index) => (at - starts[index]) * 1000))
}

async function misbehaviour() {
  const found = new Map()
  for (const [name, { faulty }] of Object.entries(loops)) {
    printProgress(`faults of ${name}`)
    found.set(name, await conformance({ loop: faulty, only: faults, windowMs: windowSeconds * 1000, atOnce: 2 }))
  }
  return found
}

function page() {
  const costRows = overheads.map(({ name, disk, memory }) => {
    const cells = [spread(disk, 'cpu'), spread(memory, 'cpu'), spread(disk, 'interval'), spread(memory, 'interval')]
    return `| ${name} | ${cells.join(' | ')} | ${spread(disk, 'start')} |`
  })
  const names = [...verdicts.keys()]
  const faultRows = verdicts.get('Ralph Mode').map(({ agent }, index) => {
    const cells = names.map((name) => formatVerdict(verdicts.get(name)[index]))
    return `| ${agent} | ${cells.join(' | ')} |`
  })
  const kept = names.map(
    (name) => `**${verdicts.get(name).filter(({ passed }) => passed).length} of ${faults.length}**`,
  )
  return `## Beside others

Written by \`npm run bench:peers\` on ${today()}; do not edit. ${versions()}, ralph-tui ${pinned['ralph-tui']} (bun ${pinned.bun}), ralphy-cli ${pinned['ralphy-cli']}.
${on}. Wall times depend on what else the machine does; CPU times and counts hardly.

### What an iteration costs

The same agent, which does nothing (\`bench/agent.c\`${agentIn === 'C' ? '' : `; there was no compiler here, so a ${agentIn} program`}); ${many} iterations less ${few}, so that the start is not in it; ${rounds} rounds in turns, on the disk and in memory: the median, and the smallest and largest round. The interval is the median from one start of the agent to the next. Milliseconds. Ours
writes and syncs its journal; the others run with their documented flags for speed (no pause, no tests, no commits).

| loop | CPU per iteration, disk | in memory | interval, disk | in memory | CPU of the start |
| --- | --- | --- | --- | --- | --- |
${costRows.join('\n')}

### What happens when the agent misbehaves

The agent of the [conformance suite](contribute/conformance.md), ${windowSeconds} seconds. ✓: as a first-class loop does. Each with its documented flags and settings, those that
help it most: the check in its configuration where it has a place for one, a limit of iterations and retries where it has them
(\`conformance/loops\`).

| the agent … | ${names.join(' | ')} |
| --- | ${names.map(() => '---').join(' | ')} |
${faultRows.join('\n')}
| as a first-class loop does | ${kept.join(' | ')} |
`
}

/** Median, and the smallest and largest round. */
function spread(samples, field) {
  const values = samples.map((sample) => sample[field])
  const round = (value) => Number(value.toPrecision(2))
  if (values.some(Number.isNaN)) return '—'
  return `${round(median(values))} (${round(Math.min(...values))} to ${round(Math.max(...values))})`
}

function formatVerdict({ starts, end, left, passed, missed }) {
  const what = `${starts} ${starts === 1 ? 'start' : 'starts'}, ${end === 'still going' ? end : `exit ${end}`}${left > 0 ? `, ${left} left` : ''}`
  return passed ? `✓ ${what}` : `✗ ${what}; not: ${missed.join(', ')}`
}
