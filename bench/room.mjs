// What the clean room takes besides the check: a claim with three changed files, and each further run on another tree. On a small
// project, and with `--files 100000` on a large one, after the first filling, which happens when a sprint starts.
// Usage: npm run build && node bench/room.mjs [--files 100000] [--rounds 5] [--memory]
// CPU is what counts on a busy machine: it is close to the wall time of an idle one.
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openProof } from '../dist/proof/claim/open-proof.js'
import { diskFolder, least, median, memoryFolder, option, printIfMain, printProgress, row } from './measure.mjs'

export async function measure({ files = option('files', 50), rounds = option('rounds', 5) } = {}) {
  const work = process.argv.includes('--memory') ? memoryFolder() : diskFolder()
  try {
    const project = join(work, 'project')
    writeProject(project, files)
    printProgress(`${files} files written`)
    const state = join(work, 'state')
    const rules = { frozen: [], mayChange: [], commands: ['true'] }
    const proof = await timed(() => openProof({ state, project, exclude: [], rules, env: process.env, hidden: [] }))
    const filled = await timed(() => proof.value.room.fill(proof.value.baseline.tree))
    const found = await claims(proof.value, project, rounds)
    await proof.value.room.close()
    const name = (what) => `${proof.value.room.kind} room, ${files} files, ${what}`
    const atMost = files > 10_000 ? 2000 : 300
    return [
      row(name('first record'), proof.ms, 'ms'),
      row(name('first filling'), filled.ms, 'ms'),
      row(name('record and compose a claim'), median(found.map(({ claim }) => claim)), 'ms'),
      row(name('claim and first run, above the check'), median(found.map(({ first }) => first)), 'ms', { atMost }),
      row(name('further run on another tree, above the check'), median(found.map(({ second }) => second)), 'ms'),
      row(name('first record, CPU'), proof.cpu, 'ms'),
      row(name('first filling, CPU'), filled.cpu, 'ms'),
      row(name('claim and first run, CPU'), least(found.map(({ firstCpu }) => firstCpu)), 'ms', { atMost }),
      row(name('of which to record and compose, CPU'), least(found.map(({ claimCpu }) => claimCpu)), 'ms'),
    ]
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function claims({ claim, dependencies, room }, project, rounds) {
  const found = []
  for (let round = 0; round < rounds; round++) {
    for (const name of ['0/0.js', '0/1.js', '0/2.test.js']) writeFileSync(join(project, name), `changed ${round}\n`)
    const bare = (await timed(() => spawnSync('/bin/sh', ['-c', 'true']))).ms
    const made = await timed(claim)
    const job = { command: 'true', timeoutMs: 60_000 }
    const plan = await timed(() => dependencies(made.value, { timeoutMs: 60_000 }))
    const first = await timed(() => room.run({ ...job, tree: made.value.newOnNew, dependencies: plan.value.mounts }))
    const second = await timed(() => room.run({ ...job, tree: made.value.oldOnNew, dependencies: plan.value.mounts }))
    if (first.value.exitCode !== 0) throw new Error(first.value.output)
    found.push({
      claim: made.ms,
      first: made.ms + plan.ms + first.ms - bare,
      second: second.ms - bare,
      claimCpu: made.cpu,
      firstCpu: made.cpu + plan.cpu + first.cpu,
    })
  }
  return found
}

async function timed(act) {
  const [startedAt, used] = [performance.now(), cpuMs()]
  const value = await act()
  return { value, ms: performance.now() - startedAt, cpu: cpuMs() - used }
}

/** Of this process and of all children that have ended, from clock ticks of 10 ms. */
function cpuMs() {
  const stat = readFileSync('/proc/self/stat', 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks) * 10, 0)
}

/** One in fifty is a test. */
function writeProject(project, files) {
  const text = 'export const x = 1\n'.repeat(50)
  for (let n = 0; n < files; n++) {
    const folder = join(project, String(Math.floor(n / 100)))
    if (n % 100 === 0) mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, n % 50 === 2 ? `${n}.test.js` : `${n}.js`), `// ${n}\n${text}`)
  }
  writeFileSync(join(project, 'package.json'), '{}')
}

await printIfMain(import.meta.url, measure)
