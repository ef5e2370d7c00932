// What a claim costs on a suite of ten seconds: a feature with a test of its own, which needs most runs. The suite mostly waits, so
// that a busy machine makes little difference: the ratio counts.
// Usage: npm run build && node bench/claim.mjs [--seconds 10] [--json]
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClaimProver } from '../dist/proof/claim-prover.js'
import { diskFolder, option, printIfMain, row } from './measure.mjs'

export async function measure({ seconds = option('seconds', 10) } = {}) {
  const work = diskFolder()
  try {
    const project = join(work, 'project')
    writeSuite(project, seconds)
    const prover = createClaimProver(options(work, project))
    const never = new AbortController().signal
    const request = { checks: [check], onStart: () => {}, onEnd: () => {} }
    const { baseline } = await prover.recordBaseline(request, never)
    addFeature(project)
    const suite = await takeTime(async () => spawnSync('npm', ['test'], { cwd: project, stdio: 'ignore' }))
    let proof
    const claim = await takeTime(async () => {
      proof = (await prover.prove({ ...request, baseline }, never)).proof
    })
    if (proof.verdict !== 'proved') throw new Error(`${proof.verdict}: ${proof.reasons.join('; ')}`)
    return [
      row(`claim, suite of ${seconds} s`, suite, 'ms'),
      row(`claim, proof of a feature with a new test, against the suite of ${seconds} s`, claim / suite, '×', {
        atMost: 2.3,
      }),
    ]
  } finally {
    rmSync(work, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function takeTime(act) {
  const startedAt = performance.now()
  await act()
  return performance.now() - startedAt
}

const check = { run: 'npm test', timeout: 600_000, eachIteration: false, protect: false }

const options = (work, project) => ({
  state: join(work, 'state'),
  heldOut: join(work, 'checks'),
  project,
  exclude: [],
  hidden: [],
  frozen: [],
  mayChange: [],
  pass: [],
  env: process.env,
  assets: fileURLToPath(new URL('../assets/reporters', import.meta.url)),
  isSealed: true,
  redact: (text) => text,
})

/** One file per second, one after the other. */
function writeSuite(project, seconds) {
  const wait = `await new Promise((done) => setTimeout(done, 900))`
  mkdirSync(join(project, 'test'), { recursive: true })
  const test = 'node --test --test-concurrency=1'
  writeFileSync(join(project, 'package.json'), JSON.stringify({ type: 'module', scripts: { test } }))
  writeFileSync(join(project, 'add.js'), 'export const add = (a, b) => a + b\n')
  for (let n = 0; n < seconds; n++)
    writeFileSync(
      join(project, `test/${n}.test.js`),
      `import test from 'node:test'\nimport { add } from '../add.js'\ntest('adds ${n}', async () => { ${wait}; if (add(${n}, 1) !== ${n + 1}) throw new Error() })\n`,
    )
}

function addFeature(project) {
  writeFileSync(
    join(project, 'add.js'),
    'export const add = (a, b) => a + b\nexport function double(a) {\n  return a + a\n}\n',
  )
  writeFileSync(
    join(project, 'test/double.test.js'),
    `import test from 'node:test'\nimport { double } from '../add.js'\ntest('doubles', () => { if (double(2) !== 4) throw new Error() })\n`,
  )
}

await printIfMain(import.meta.url, measure)
