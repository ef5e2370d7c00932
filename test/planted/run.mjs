// Plants one defect after the other into a copy of the tree and shows which test sees it. A defect that no test sees is a hole.
// Usage: npm run test:planted [-- <part of a name> …]
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** `find` stands in the file once; a defect that no longer fits must be planted anew, not skipped. */
const defects = [
  {
    name: 'a tree is not killed',
    file: 'src/platform/supervised-process.ts',
    find: 'if (id) await endTree(id, job)',
    put: 'if (id && job === undefined) await endTree(id, job)',
    tests: 'src/platform/supervised-process.test.ts',
  },
  {
    name: 'the journal is not synced',
    file: 'src/platform/append-file.ts',
    find: 'await file.datasync()',
    put: 'await Promise.resolve()',
    tests: 'src/platform/append-file.test.ts',
  },
  {
    name: 'a red check does not stop a claim',
    file: 'src/loop/checks.ts',
    find: 'if (live.goalCompleteSummary === undefined || red.length === 0) return',
    put: 'if (live.goalCompleteSummary === undefined || red.length >= 0) return',
    tests: 'src/loop',
  },
  {
    name: 'known secrets are not redacted',
    file: 'src/contract/redact.ts',
    find: 'const names = formsOf(secrets)',
    put: 'const names = formsOf(secrets.slice(secrets.length))',
    tests: 'src/contract/redact.test.ts',
  },
  {
    name: 'the Host header is not looked at',
    file: 'src/backend/http/guard.ts',
    find: 'asked.host === undefined || !hosts.has(asked.host.toLowerCase())',
    put: 'hosts.size === 0',
    tests: 'src/backend/http/guard.test.ts',
  },
  {
    name: 'two prompts of an agent may run at once',
    file: 'assets/migrations/0001-fleet.sql',
    find: "create unique index agent_prompt_running on agent_prompt (agent_id) where status = 'running';",
    put: "create index agent_prompt_running on agent_prompt (agent_id) where status = 'running';",
    tests: 'src/backend/fleet/prompts.test.ts src/backend/database',
  },
  {
    name: 'a message is acknowledged before it is stored',
    file: 'src/channel/session.ts',
    find: "outputs: [{ type: 'store', seq: frame.seq, message: arrived(frame, assembled.body) }]",
    put: "outputs: [control({ ...received, storedSeq: expected }, lineTypes.ack), { type: 'store', seq: frame.seq, message: arrived(frame, assembled.body) }]",
    tests: 'src/channel',
  },
  {
    name: 'frames of another connection are taken',
    file: 'src/channel/session.ts',
    find: 'if (frame.epoch !== session.epoch)',
    put: 'if (frame.epoch !== frame.epoch)',
    tests: 'src/channel',
  },
]

const wanted = process.argv.slice(2)
const chosen = defects.filter(({ name }) => wanted.length === 0 || wanted.some((part) => name.includes(part)))
const copy = mkdtempSync(join(tmpdir(), 'ralph-planted-'))
try {
  for (const name of [
    'src',
    'test',
    'assets',
    'schemas',
    'package.json',
    'vitest.config.ts',
    'tsconfig.json',
    'tsconfig.base.json',
  ])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const seen = chosen.map((defect) => ({ ...defect, failed: plant(defect) }))
  for (const { name, failed } of seen)
    console.log(`${failed.length > 0 ? '✓' : '✗ NOT SEEN'} ${name}: ${failed.join(' · ')}`)
  process.exitCode = seen.every(({ failed }) => failed.length > 0) ? 0 : 1
} finally {
  rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
}

/** The titles of up to three tests that fail with it. */
function plant({ name, file, find, put, tests }) {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(find).length !== 2) throw new Error(`${name}: its place is not in ${file} once`)
  writeFileSync(
    path,
    text.replace(find, () => put),
  )
  const output = join(copy, 'result.json')
  rmSync(output, { force: true })
  const args = ['run', '--project', 'unit', '--reporter=json', `--outputFile=${output}`, ...tests.split(' ')]
  spawnSync(process.execPath, [join(copy, 'node_modules/vitest/vitest.mjs'), ...args], { cwd: copy, stdio: 'ignore' })
  writeFileSync(path, text)
  const { testResults } = JSON.parse(readFileSync(output, 'utf8'))
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  if (results.length === 0) throw new Error(`${name}: no test ran`)
  return results
    .filter(({ status }) => status === 'failed')
    .map(({ fullName }) => fullName)
    .slice(0, 3)
}
