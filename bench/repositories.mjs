// What the progress hash and the checkpoint of an iteration take, against one `git status` of the same repository in the same round.
// Usage: npm run build && node bench/repositories.mjs [--rounds 9] [--scale 1] [--only large,binary]
// CPU is that of all processes; wall is the median of the ratios of each round. Both are taken in turns, so load affects both.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, openSync, closeSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openWorkspace } from '../dist/storage/git/workspace.js'
import { diskFolder, median, option, printIfMain, printProgress, row } from './measure.mjs'

const target = 1.5

/** Each shape writes a project with one commit; `edit` is what an agent changes in a round. */
const shapes = {
  large: { name: '100,000 files', write: (project, scale) => commit(writeFiles(project, 100_000 * scale)) },
  submodules: { name: '20 submodules', write: writeSubmodules },
  ignored: { name: '60,000 ignored files', write: writeIgnored },
  untracked: { name: '5,000 untracked files', write: writeUntracked },
  binary: { name: 'a binary of 500 MB', write: writeBinary },
}

export async function measure({ rounds = option('rounds', 9), scale = option('scale', 1) } = {}) {
  const only = process.argv.includes('--only') ? process.argv[process.argv.indexOf('--only') + 1].split(',') : undefined
  const rows = []
  for (const [key, { name }] of Object.entries(shapes)) {
    if (only && !only.includes(key)) continue
    const work = diskFolder()
    try {
      const project = join(work, 'project')
      // By another process: the memory of the writer would make every start of git here slower than in a sprint.
      execFileSync(process.execPath, [fileURLToPath(import.meta.url), '--write', key, project, String(scale)])
      printProgress(`${name}: written`)
      rows.push(...(await measureShape(name, project, rounds)))
    } finally {
      rmSync(work, { recursive: true, force: true, maxRetries: 5 })
    }
  }
  return rows
}

async function measureShape(name, project, rounds) {
  const sprintDir = join(project, '.claude', 'sprints', 's')
  mkdirSync(sprintDir, { recursive: true })
  let activity = 0
  const workspace = await openWorkspace({ project, sprintDir, sprintId: 's' }, { activity: () => activity })
  const first = await timed(workspace.start)
  const found = []
  // The first rounds warm both up.
  for (let round = -2; round < rounds; round++) {
    const before = await timed(workspace.fingerprint)
    activity += 2
    for (const file of ['a.txt', 'b.txt', 'new.txt']) writeFileSync(join(project, file), `round ${round}\n`)
    const status = () => timed(() => void spawnSync('git', ['status', '--porcelain'], { cwd: project }))
    const early = round % 2 === 0 ? await status() : undefined
    const iteration = await timed(async () => {
      await workspace.fingerprint()
      await workspace.checkpoint(round + 3, 'm')
    })
    const one = early ?? (await status())
    if (round >= 0) found.push({ one, ours: { cpu: before.cpu + iteration.cpu, ms: before.ms + iteration.ms } })
  }
  const sum = (read) => found.reduce((total, each) => total + read(each), 0)
  return [
    row(`${name}, first run, CPU`, first.cpu, 'ms'),
    row(`${name}, git status, CPU`, sum(({ one }) => one.cpu) / rounds, 'ms'),
    row(`${name}, hash and checkpoint, CPU`, sum(({ ours }) => ours.cpu) / sum(({ one }) => one.cpu), '× git status', {
      atMost: target,
    }),
    row(`${name}, hash and checkpoint, wall`, median(found.map(({ one, ours }) => ours.ms / one.ms)), '× git status'),
  ]
}

async function timed(work) {
  const [cpu, begun] = [cpuMs(), performance.now()]
  await work()
  return { ms: performance.now() - begun, cpu: cpuMs() - cpu }
}

/** Of this process and the programs that it waited for, from ticks of 10 ms. */
function cpuMs() {
  const fields = readFileSync('/proc/self/stat', 'utf8').split(') ')[1].split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}

function writeFiles(project, files) {
  for (let file = 0; file < files; file++) {
    const folder = join(project, 'src', `d${Math.floor(file / 1000)}`, `e${Math.floor(file / 50)}`)
    if (file % 50 === 0) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `f${file}.ts`), `export const value${file} = ${Math.random()}\n`.repeat(20))
  }
  mkdirSync(project, { recursive: true })
  for (const name of ['a.txt', 'b.txt']) writeFileSync(join(project, name), 'begin\n')
  return project
}

function commit(project) {
  git(project, 'init', '--quiet')
  git(project, 'add', '--all')
  git(project, 'commit', '--quiet', '--message=m')
  git(project, 'gc', '--quiet')
  return project
}

function writeSubmodules(project, scale) {
  commit(writeFiles(project, 100))
  for (let number = 0; number < 20; number++) {
    const other = commit(writeFiles(join(project, '..', `module-${number}`), 200 * scale))
    git(project, '-c', 'protocol.file.allow=always', 'submodule', 'add', '--quiet', other, `modules/m${number}`)
  }
  git(project, 'commit', '--quiet', '--all', '--message=modules')
}

function writeIgnored(project, scale) {
  writeFiles(join(project, 'node_modules'), 60_000 * scale)
  writeFileSync(join(project, '.gitignore'), 'node_modules/\n')
  commit(writeFiles(project, 500))
}

function writeUntracked(project, scale) {
  commit(writeFiles(project, 500))
  writeFiles(join(project, 'untracked'), 5000 * scale)
}

function writeBinary(project, scale) {
  writeFiles(project, 500)
  const file = openSync(join(project, 'large.bin'), 'w')
  for (let part = 0; part < 500 * scale; part++) writeSync(file, randomBytes(1024 ** 2))
  closeSync(file)
  commit(project)
}

const git = (cwd, ...args) =>
  execFileSync('git', ['-c', 'user.name=U', '-c', 'user.email=u@x', '-c', 'gc.auto=0', ...args], {
    cwd,
    stdio: 'ignore',
  })

const [, , flag, key, project, scale] = process.argv
if (flag === '--write') shapes[key].write(project, Number(scale))
else printIfMain(import.meta.url, measure)
