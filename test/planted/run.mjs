// Plants one defect after the other into a copy of the tree and shows which test fails. A defect that no test detects is a hole.
// Usage: npm run test:more -- planted [-- <part of a name> …] [-- --write]     --write: all of them, and docs/planted.md
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { defects } from './defects.mjs'

const root = fileURLToPath(new URL('../..', import.meta.url))

const isWriting = process.argv.includes('--write')
const names = isWriting ? [] : process.argv.slice(2)
const chosen = defects.filter(({ name }) => names.length === 0 || names.some((part) => name.includes(part)))
const config = {
  test: { include: ['src/**/*.test.ts', 'test/hostile/*.test.ts'], testTimeout: 60_000, maxWorkers: 2 },
}
const copy = mkdtempSync(join(tmpdir(), 'ralph-planted-'))
try {
  for (const name of ['src', 'test', 'assets', 'schemas', 'package.json', 'tsconfig.json', 'tsconfig.base.json'])
    cpSync(join(root, name), join(copy, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  writeFileSync(join(copy, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}\n`)
  const before = failures([...new Set(chosen.flatMap(({ tests }) => tests.split(' ')))])
  if (before.length > 0) throw new Error(`without any defect there fails: ${before.join(', ')}`)
  const seen = chosen.map((defect) => printResult({ ...defect, failed: plant(defect) }))
  console.log(`${seen.filter(({ failed }) => failed.length > 0).length} of ${seen.length} are seen`)
  if (isWriting) writePage(seen)
  process.exitCode = seen.every(({ failed }) => failed.length > 0) ? 0 : 1
} finally {
  rmSync(copy, { recursive: true, force: true, maxRetries: 5 })
}

function printResult(defect) {
  const { name, failed } = defect
  console.log(`${failed.length > 0 ? '✓' : '✗ NOT SEEN'} ${name}: ${failed.slice(0, 3).join(' · ')}`)
  return defect
}

/** The titles of the tests that fail with it. */
function plant({ name, file, find, put, tests }) {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  if (text.split(find).length !== 2) throw new Error(`${name}: its place is not in ${file} once`)
  writeFileSync(
    path,
    text.replace(find, () => put),
  )
  const failed = failures(tests.split(' '))
  writeFileSync(path, text)
  return failed
}

function failures(tests) {
  const output = join(copy, 'result.json')
  rmSync(output, { force: true })
  const args = ['run', '--config', 'vitest.config.mjs', '--reporter=json', `--outputFile=${output}`, ...tests]
  spawnSync(process.execPath, [join(copy, 'node_modules/vitest/vitest.mjs'), ...args], { cwd: copy, stdio: 'ignore' })
  const { testResults } = JSON.parse(readFileSync(output, 'utf8'))
  const results = testResults.flatMap(({ assertionResults }) => assertionResults)
  if (results.length === 0) throw new Error(`no test ran of ${tests.join(' ')}`)
  return results.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName)
}

function writePage(seen) {
  const cell = (text) =>
    text
      .replaceAll('|', String.raw`\|`)
      .replaceAll('<', '&lt;')
      .replaceAll('\n', ' ')
  const rows = seen.map(({ name, file, failed }) => {
    const more = failed.length > 1 ? ` and ${failed.length - 1} more` : ''
    return `| ${name} | \`${file}\` | ${failed.length === 0 ? '**none**' : `${cell(failed[0])}${more}`} |`
  })
  const page = join(root, 'docs/planted.md')
  const text = `# Planted defects

Written by \`npm run test:more -- planted --write\`; do not edit. Each row spoils one line of the product, in a copy, and runs tests that pass without
it. A guard that can be taken out without a test failing is none.

| the defect | planted in | the test that sees it |
| --- | --- | --- |
${rows.join('\n')}
`
  writeFileSync(page, text)
  spawnSync(process.execPath, [join(root, 'node_modules/oxfmt/bin/oxfmt'), page], { stdio: 'ignore' })
}
