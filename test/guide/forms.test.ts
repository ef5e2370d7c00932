import { execFile } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { chmod, cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { root } from '../support/paths.ts'
import { createTestSprint, type TestSprint } from '../support/sprint.ts'

const pages = [
  ...['new-driver', 'new-check-kind', 'new-channel', 'new-cell'].map((name) => `docs/contribute/${name}.md`),
  'test/guide/new-way.md',
].map((path) => readFileSync(join(root, path), 'utf8'))
const lines = blocks('json')[0] ?? ''
const exec = promisify(execFile)

/** Ralph with the additions of all pages. */
let program: string
const builtFolder = mkdtempSync(join(tmpdir(), 'ralph-forms-'))
beforeAll(async () => {
  program = await build(builtFolder)
}, 600_000)
afterAll(() => rmSync(builtFolder, { recursive: true, force: true }))

it('the page about new drivers leads to a working driver', async () => {
  const sprint = await createTestSprint({
    sprint: { agent: 'parrot', 'done-when': [{ run: 'test -f said' }] },
    files: { '../bin/parrot': parrot, 'recorded.jsonl': lines },
  })
  await chmod(sprint.at('../bin/parrot'), 0o755)
  const PATH = `${sprint.at('../bin')}:${process.env['PATH']}`
  // The folder of the test may be in /dev/shm, which a sandbox replaces by its own.
  const env = { HOME: sprint.at('../home'), PATH, PARROT_KEY: 'k', IS_SANDBOX: '1' }
  const ralph = async (...args: readonly string[]) =>
    (await exec(process.execPath, [program, ...args], { cwd: sprint.at(), env })).stdout

  expect(await ralph('run', 's', '--workflows', 'wf')).toMatch(/→ shell npm test[\s\S]*accepted by test -f said/)
  expect((await sprint.progress()).stats.usage).toMatchObject({ 'input-tokens': 1200, 'output-tokens': 34 })

  expect(await ralph('agents')).toMatch(/^parrot +headless +1\.2\.3 +yes +yes /m)
  expect(await ralph('agents', 'try', 'parrot')).toContain('parrot answers: All tests pass now.')
  expect(JSON.parse(await ralph('transcript', 'recorded.jsonl', '--agent', 'parrot', '--json'))).toMatchObject({
    status: 'ok',
    sessionId: 'p-1',
    usage: { inputTokens: 1200, outputTokens: 34 },
    text: 'All tests pass now.',
  })
}, 120_000)

const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'it says "hi"' }

async function runSprint(sprint: TestSprint) {
  const PATH = `${sprint.at('../bin')}:${process.env['PATH']}`
  const env = { HOME: sprint.at('../home'), PATH, IS_SANDBOX: '1' }
  return exec(process.execPath, [program, 'run', 's', '--workflows', 'wf'], { cwd: sprint.at(), env })
}

it('the page about kinds of checks leads to a working kind', async () => {
  const sprint = await createTestSprint({
    sprint: { 'done-when': [{ file: "it's done.txt", 'each-iteration': true }] },
    answers: {
      1: { run: ': > "it\'s done.txt"', report: claim },
      2: { run: 'echo yes > "it\'s done.txt"', report: claim },
    },
  })

  expect((await runSprint(sprint)).stdout).toMatch(/refused[\s\S]*accepted by file it's done\.txt/)
  const { 'done-when': checks } = await sprint.progress()
  expect(checks).toMatchObject([{ run: `test -s 'it'\\''s done.txt'`, 'each-iteration': true }])
  await sprint.write('s2/SPRINT.yaml', 'workflow: ralph\ngoal: g\ndone-when: [{fil: x}]\n')
  const compiling = exec(process.execPath, [program, 'compile', 's2', '--workflows', 'wf'], { cwd: sprint.at() })
  await expect(compiling).rejects.toMatchObject({
    stderr: expect.stringMatching(/SPRINT\.yaml:3:/),
  })
}, 120_000)

it('the page about channels leads to a working channel', async () => {
  const sprint = await createTestSprint({
    sprint: { 'sprint-id': 'db', notify: [{ append: "o'clock.log" }] },
    answers: { 1: claim },
  })

  await runSprint(sprint)
  expect(await sprint.read("o'clock.log")).toBe('db: completed: it says "hi"\n')
  expect((await sprint.progress()).notifications).toMatchObject([{ to: "o'clock.log", sent: true }])
}, 120_000)

it('the page about cells leads to a working cell, which claims no walls that it has not', async () => {
  const sprint = await createTestSprint({
    sprint: { cell: { kind: 'setpriv', network: 'open' }, 'done-when': [{ run: 'test -s rights' }] },
    answers: { '*': { run: 'grep NoNewPrivs /proc/self/status > rights', report: claim } },
  })

  expect((await runSprint(sprint)).stdout).toContain('accepted by test -s rights')
  expect(await sprint.read('rights')).toMatch(/^NoNewPrivs:\s+1$/m)
  expect((await sprint.progress()).walls).toMatchObject([{ around: 'agents', cell: 'setpriv', network: 'open' }])

  const limited = await createTestSprint({ sprint: { cell: 'setpriv' }, answers: { '*': claim } })
  await expect(runSprint(limited)).rejects.toMatchObject({
    stderr: expect.stringMatching(/SANDBOX_UNAVAILABLE {2}the sprint limits the network.*setpriv cannot/),
  })
}, 120_000)

it('a way of working is one folder, its row in the registry and its word in the files', async () => {
  const sprint = await createTestSprint({
    workflow: { protocol: 'thumbs' },
    sprint: { 'done-when': [{ run: 'test -f done' }] },
    answers: { 1: { text: 'I looked around' }, 2: { text: 'THUMBS UP' }, 3: { run: ': > done', text: 'THUMBS UP' } },
  })

  expect((await runSprint(sprint)).stdout).toMatch(/refused[\s\S]*accepted by test -f done/)
  const { status, protocol, iterations } = await sprint.progress()
  expect({ status, protocol }).toEqual({ status: 'completed', protocol: 'thumbs' })
  expect(iterations).toMatchObject([{ verdict: 'continue' }, { verdict: 'refused' }, { verdict: 'accepted' }])
  for (const { prompt } of await sprint.calls()) expect(prompt).toContain('Say THUMBS UP')
}, 120_000)

const report = '```json\n{"status":"goal-complete","summary":"s","goalCompleteSummary":"all pass"}\n```'
/** Prints the lines of the page, and the message with a report. */
const parrot = `#!/bin/sh
test "$1" = --version && exec echo "parrot 1.2.3"
test "$1" = --json || exit 64
test "$PARROT_KEY$PARROT_NO_UPDATES" = k1 || exit 65
cat > said
cat <<'EOF'
${lines.replace('now."', `now.\\n\\n${JSON.stringify(report).slice(1, -1)}"`)}EOF
`

/** Builds Ralph with the additions of the pages; resolves with the program. */
async function build(folder: string): Promise<string> {
  for (const name of ['src', 'dist', 'assets', 'package.json', 'tsconfig.base.json']) {
    // Keeps the file times, so that only changed files are built.
    await cp(join(root, name), join(folder, name), { recursive: true, preserveTimestamps: true })
  }
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  for (const block of blocks('ts')) {
    const [, file = '', text = ''] = /^\/\/ (\S+)\n(.*)$/s.exec(block) ?? []
    await mkdir(dirname(join(folder, file)), { recursive: true })
    await writeFile(join(folder, file), text)
  }
  for (const block of blocks('diff')) await patch(folder, block)
  await exec(process.execPath, [join(root, 'node_modules/typescript/bin/tsc'), '-b', 'src/cli'], { cwd: folder })
  return join(folder, 'dist/cli/main.js')
}

async function patch(folder: string, block: string): Promise<void> {
  const [head = '', ...changes] = block.trimEnd().split('\n')
  const side = (marks: string) => changes.filter((line) => marks.includes(line[0] ?? '')).map((line) => line.slice(1))
  const file = join(folder, head.slice(2))
  const text = await readFile(file, 'utf8')
  const before = side(' -').join('\n')
  expect(text).toContain(before)
  await writeFile(file, text.replace(before, side(' +').join('\n')))
}

function blocks(language: string): string[] {
  const fenced = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms')
  return pages.flatMap((page) => [...page.matchAll(fenced)].map(([, text = '']) => text))
}
