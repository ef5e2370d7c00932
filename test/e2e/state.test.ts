import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { createTestSprint } from '../support/sprint.ts'
import { findState } from '../support/state.ts'

const proceeding = { status: 'continue', summary: 'planned', pendingSteps: [{ id: null, prompt: 'alpha' }] }
const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'done' }
const fixtures = join(root, 'test/fixtures/sprint-0.1.0')

it('believes nothing that the agent writes into the sprint folder', async () => {
  const sprint = await createTestSprint({ sprint: { 'done-when': [{ run: 'false' }] }, answers: { '*': proceeding } })
  expect((await sprint.run('--max-iterations', '1')).exitCode).toBe(3)
  // A complete sprint of the old format, with right checksums, that says "completed".
  cpSync(join(fixtures, 'completed', 'journal'), sprint.at('s/journal'), { recursive: true })
  await sprint.write('s/PROGRESS.yaml', (await sprint.read('s/PROGRESS.yaml')).replace('limit-reached', 'completed'))
  await sprint.write('s/attempts/2-1/exit', '0\n')

  expect(await sprint.ralph('status', 's', '--json')).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('"limit-reached"'),
  })
  expect((await sprint.run('--max-iterations', '2')).exitCode).toBe(3)
  expect(await sprint.calls()).toHaveLength(2)
})

it('checks a claim that comes with an imported PROGRESS.yaml or an old journal', async () => {
  const sprint = await createTestSprint({ files: { 's/SPRINT.yaml': null }, answers: { '*': claim } })
  rmSync(sprint.at('s'), { recursive: true, force: true })
  cpSync(join(fixtures, 'completed'), sprint.at('s'), { recursive: true })
  await sprint.write('s/SPRINT.yaml', 'workflow: ralph\ngoal: g\nagent: claude\ndone-when: [{run: "true"}]\n')

  const { exitCode, stdout } = await sprint.ralph('run', 's', '--accept-changes')

  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('iteration 4') })
  expect(existsSync(sprint.at('s/journal'))).toBe(false)
  expect(await sprint.ralph('doctor', 's')).toMatchObject({ exitCode: 0 })
})

it('asks before a moved folder gets its state back, and takes --rebind for an answer', async () => {
  const sprint = await createTestSprint({ answers: { '*': proceeding } })
  expect((await sprint.run('--max-iterations', '1')).exitCode).toBe(3)
  renameSync(sprint.at('s'), sprint.at('moved'))
  const run = ['run', 'moved', '-w', 'wf', '--max-iterations', '2'] as const

  expect(await sprint.ralph(...run)).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/SPRINT_MOVED .*\/s, which no longer exists[\s\S]*--rebind/),
  })
  expect((await sprint.ralph(...run, '--rebind')).exitCode).toBe(3)
  expect(await sprint.ralph('logs', 'moved')).toMatchObject({ exitCode: 0 })
  expect(await sprint.calls()).toHaveLength(2)
})

it('D17: says in one line that RALPH_HOME cannot be written', async () => {
  const sprint = await createTestSprint({ env: { RALPH_HOME: '/proc/nothing' } })

  expect(await sprint.run()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^\S+  error STATE_UNWRITABLE .*RALPH_HOME.*\n$/),
  })
  expect(await sprint.calls()).toEqual([])
})

/** Binds the sprint in a process of its own, which kills itself after some milliseconds: on a busy machine a test would kill it too late. */
const binder = (sprintDir: string) => `
  import { bindState } from ${JSON.stringify(pathToFileURL(join(root, 'dist/storage/state/state-folder.js')).href)}
  import { advance } from ${JSON.stringify(pathToFileURL(join(root, 'dist/loop/advance.js')).href)}
  const fold = (progress, fact) => advance(progress, fact).progress
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(process.argv[2]))
  await bindState({ sprintDir: ${JSON.stringify(sprintDir)}, fold, now: Date.now })
  process.exit()`

it('loses nothing of an old sprint when the process that moves it is killed again and again', async () => {
  // Another disk than that of the project, where there is one: then files are copied, not renamed.
  const home = mkdtempSync('/var/tmp/ralph-test-')
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const folder = createTestFolder()
  const [sprintDir, script] = [join(folder, 's'), join(folder, 'bind.mjs')]
  cpSync(join(fixtures, 'stopped'), sprintDir, { recursive: true, verbatimSymlinks: true })
  for (let n = 10; n < 300; n++) {
    mkdirSync(join(sprintDir, 'attempts', `${n}-1`))
    writeFileSync(join(sprintDir, 'attempts', `${n}-1`, 'transcript.jsonl'), 'x'.repeat(10_000))
  }
  const attempts = readdirSync(join(sprintDir, 'attempts')).toSorted()
  writeFileSync(script, binder(sprintDir))
  const kills: number[] = []
  for (let delay = 1; ; delay *= 2) {
    const env = { ...process.env, RALPH_HOME: home }
    const { status, signal, stderr } = spawnSync(process.execPath, [script, `${delay}`], { env, encoding: 'utf8' })
    if (status === 0) break
    expect({ signal, stderr }).toEqual({ signal: 'SIGKILL', stderr: '' })
    kills.push(delay)
  }

  const state = findState(home, sprintDir)
  expect(kills.length).toBeGreaterThan(0)
  expect(readdirSync(join(state, 'attempts')).toSorted()).toEqual(attempts)
  expect(readdirSync(sprintDir).toSorted()).toEqual(['.ralph-id', 'PROGRESS.yaml', 'SPRINT.yaml', 'transcripts'])
  expect(existsSync(join(sprintDir, 'transcripts', 'iteration-2.jsonl'))).toBe(true)
  expect(readdirSync(join(state, 'journal'))).toEqual(['00000001.log'])
})
