import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { isRunning, kill, markedProcesses } from '../../../test/support/processes.ts'
import { attemptState, readProcessId, type EndReason } from './attempt-folder.ts'
import { superviseProcess, type SupervisedProcess } from './supervised-process.ts'

/** A shell script in a folder below `base`, with its output collected. */
function startTestJob(base: string, script: string, overrides: Partial<SupervisedProcess> = {}) {
  const chunks: Buffer[] = []
  const job: SupervisedProcess = {
    folder: join(base, 'attempt'),
    file: '/bin/sh',
    args: ['-c', script],
    cwd: base,
    env: { PATH: process.env['PATH'] ?? '' },
    stdin: '',
    files: {},
    mark: `${base}/#1-1`,
    onOutput: (chunk) => {
      chunks.push(Buffer.from(chunk))
    },
    overdue: () => undefined,
    signal: new AbortController().signal,
    graceMs: 300,
    ...overrides,
  }
  onTestFinished(() => markedProcesses(base).forEach(({ pid }) => kill(pid)))
  return { job, output: () => Buffer.concat(chunks).toString() }
}

/** Processes of a job that are still running after a moment. */
async function findLeftovers(base: string): Promise<string[]> {
  for (let tries = 0; tries < 20 && markedProcesses(base).length > 0; tries++) await sleep(50)
  return markedProcesses(base).map(({ command }) => command)
}

describe('a program that exits by itself', () => {
  it.each([0, 7, 143])('is reported with its exit code %i', async (code) => {
    const base = createTestFolder()
    const { job, output } = startTestJob(base, `echo hello; exit ${code}`)

    expect(await superviseProcess(job)).toEqual({ code, lost: false })
    expect(output()).toBe('hello\n')
    expect(attemptState(job.folder)).toBe('ended')
  })

  it('is reported with the code of its shell when a signal killed it', async () => {
    const { job } = startTestJob(createTestFolder(), 'kill -KILL $$')
    expect(await superviseProcess(job)).toEqual({ code: 137, lost: false })
  })

  it('reads its input from a file and finds the files beside it', async () => {
    const { job, output } = startTestJob(createTestFolder(), 'cat; cat "$SETTINGS"', {
      stdin: 'the prompt\n',
      files: { 'a.json': '{}' },
    })
    await superviseProcess({ ...job, env: { ...job.env, SETTINGS: join(job.folder, 'a.json') } })

    expect(output()).toBe('the prompt\n{}')
    expect(readFileSync(join(job.folder, 'prompt.md'), 'utf8')).toBe('the prompt\n')
  })

  it('is read no faster than its output is consumed', async () => {
    let [busy, most] = [0, 0]
    const onOutput = async () => {
      most = Math.max(most, ++busy)
      await sleep(1)
      busy--
    }
    const { job } = startTestJob(createTestFolder(), 'yes | head -c 100000', { onOutput })
    await superviseProcess(job)

    expect({ busy, most }).toEqual({ busy: 0, most: 1 })
  })

  it('has its output stored byte for byte, and its errors separately', async () => {
    const { job } = startTestJob(createTestFolder(), `printf 'a\\000\\377\\n'; echo oops >&2`)
    await superviseProcess(job)

    expect(readFileSync(join(job.folder, 'transcript.jsonl'))).toEqual(Buffer.from([97, 0, 255, 10]))
    expect(readFileSync(join(job.folder, 'stderr.log'), 'utf8')).toBe('oops\n')
  })

  it('leaves none of the processes that it started, even with setsid, within two seconds', async () => {
    const base = createTestFolder()
    const { job } = startTestJob(
      base,
      'sleep 60 & setsid sleep 61 & setsid sh -c "setsid sleep 62 & sleep 63" & echo done',
    )
    const before = performance.now()

    expect(await superviseProcess(job)).toEqual({ code: 0, lost: false })
    expect(await findLeftovers(base)).toEqual([])
    expect(performance.now() - before).toBeLessThan(2000)
  })

  it('is rejected if it does not exist, and its folder says so', async () => {
    const { job } = startTestJob(createTestFolder(), '', { file: '/no/such/program' })
    expect(await superviseProcess(job)).toEqual({ code: 127, lost: false })
  })
})

describe('a program that does not exit by itself', () => {
  it('ends on request, after a TERM that it obeys', async () => {
    const abort = new AbortController()
    const { job, output } = startTestJob(
      createTestFolder(),
      'trap "echo bye; exit 3" TERM; echo up; while :; do sleep 0.02; done',
      {
        signal: abort.signal,
        graceMs: 10_000,
      },
    )
    const ended = superviseProcess({
      ...job,
      onOutput: (chunk) => {
        void job.onOutput(chunk)
        abort.abort()
      },
    })

    expect(await ended).toEqual({ code: 3, lost: false, ended: 'aborted' })
    expect(output()).toBe('up\nbye\n')
    expect(attemptState(job.folder)).toBe('aborted')
  })

  it.each<EndReason>(['idle', 'attempt', 'output-cap'])('ends when it is overdue: %s', async (why) => {
    const base = createTestFolder()
    const { job } = startTestJob(base, 'echo up; sleep 60', { overdue: (bytes) => (bytes > 0 ? why : undefined) })

    expect(await superviseProcess(job)).toMatchObject({ lost: false, ended: why })
    expect(await findLeftovers(base)).toEqual([])
    expect(readFileSync(join(job.folder, 'ended'), 'utf8')).toBe(`${why}\n`)
  })

  it('is gone soon after its grace period, with all its children, if it ignores TERM', async () => {
    const base = createTestFolder()
    const { job } = startTestJob(base, `trap '' TERM; setsid sleep 60 & echo up; while :; do sleep 1; done`, {
      overdue: (bytes) => (bytes > 0 ? 'attempt' : undefined),
    })
    const before = performance.now()

    expect(await superviseProcess(job)).toEqual({ code: null, lost: false, ended: 'attempt' })
    expect(await findLeftovers(base)).toEqual([])
    expect(performance.now() - before).toBeLessThan(2500)
  })

  it('takes its process group along, even processes whose parent is gone', async () => {
    const base = createTestFolder()
    const { job } = startTestJob(
      base,
      `env -i sh -c 'trap "" TERM; echo $$ >pid-file; while :; do sleep 0.2; done' & echo up; sleep 60`,
      {
        overdue: () => (existsSync(join(base, 'pid-file')) ? 'attempt' : undefined),
      },
    )
    await superviseProcess(job)

    const pid = Number(readFileSync(join(base, 'pid-file'), 'utf8'))
    onTestFinished(() => kill(pid))
    expect(isRunning(pid)).toBe(false)
  })

  it('has all its output, stderr included, counted against the cap', async () => {
    const { job } = startTestJob(createTestFolder(), 'while :; do echo xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx >&2; done', {
      overdue: (bytes) => (bytes > 50_000 ? 'output-cap' : undefined),
    })
    expect(await superviseProcess(job)).toMatchObject({ ended: 'output-cap' })
  })

  it('is reported as lost when it is killed together with its shim', async () => {
    const base = createTestFolder()
    const { job } = startTestJob(base, 'echo up; sleep 60')
    const ended = superviseProcess({ ...job, onOutput: () => kill(-(readProcessId(job.folder)?.pid ?? 0)) })

    expect(await ended).toEqual({ code: null, lost: true })
    expect(attemptState(job.folder)).toBe('lost')
  })
})

/** A job whose parent was killed: another process started it, and is gone. */
async function startOrphan(base: string, script: string) {
  const { job, output } = startTestJob(base, script)
  mkdirSync(job.folder)
  for (const name of ['prompt.md', 'transcript.jsonl', 'stderr.log']) writeFileSync(join(job.folder, name), '')
  const shim = `exec >>"$1/transcript.jsonl" 2>/dev/null </dev/null
read -r stat </proc/$$/stat; read -r boot </proc/sys/kernel/random/boot_id
echo "$$ $boot \${stat##*) }" >"$1/pid"; trap : TERM
sh -c "$2"; code=$?; echo $code >"$1/exit"`
  const starter = spawn('/bin/sh', ['-c', 'setsid sh -c "$1" shim "$2" "$3" &', '', shim, job.folder, script], {
    env: { ...job.env, RALPH_ATTEMPT: job.mark },
    stdio: 'ignore',
  })
  await once(starter, 'exit')
  for (let tries = 0; tries < 100 && !readProcessId(job.folder); tries++) await sleep(10)
  return { job, output }
}

describe('a program that an earlier run started', () => {
  it('is joined while it runs, and read from the beginning', async () => {
    const base = createTestFolder()
    const { job, output } = await startOrphan(
      base,
      `echo one; while [ ! -e '${base}/go' ]; do sleep 0.02; done; echo two; exit 5`,
    )
    expect(attemptState(job.folder)).toBe('running')
    let ranMs = -1
    const ended = superviseProcess({ ...job, onJoined: (ms) => (ranMs = ms) })
    await sleep(150)
    writeFileSync(join(base, 'go'), '')

    expect(await ended).toEqual({ code: 5, lost: false })
    expect(output()).toBe('one\ntwo\n')
    expect(ranMs).toBeGreaterThanOrEqual(0)
  })

  it('is not started again if it has ended since: its result counts', async () => {
    const base = createTestFolder()
    const { job, output } = await startOrphan(base, `echo done >>'${base}/count'; echo result; exit 4`)
    for (let tries = 0; tries < 100 && attemptState(job.folder) !== 'ended'; tries++) await sleep(10)

    expect(await superviseProcess(job)).toEqual({ code: 4, lost: false })
    expect(output()).toBe('result\n')
    expect(readFileSync(join(base, 'count'), 'utf8')).toBe('done\n')
  })

  it('is lost if it is gone without an exit code, and none of its processes survives', async () => {
    const base = createTestFolder()
    const { job } = await startOrphan(base, 'setsid sleep 60 & echo part; sleep 60')
    kill(readProcessId(job.folder)?.pid ?? 0)
    expect(await superviseProcess(job)).toEqual({ code: null, lost: true })
    expect(await findLeftovers(base)).toEqual([])
  })

  it('is not confused with another process that reuses its pid', async () => {
    const base = createTestFolder()
    const { job } = startTestJob(base, '')
    mkdirSync(job.folder)
    const bystander = spawn('/bin/sleep', ['60'], { stdio: 'ignore', detached: true })
    onTestFinished(() => kill(bystander.pid ?? 0))
    writeFileSync(join(job.folder, 'pid'), `${bystander.pid} ${'0'.repeat(36)} S${' 1'.repeat(30)}\n`)

    expect(attemptState(job.folder)).toBe('lost')
    expect(await superviseProcess({ ...job, overdue: () => 'attempt' })).toEqual({ code: null, lost: true })
    expect(isRunning(bystander.pid ?? 0)).toBe(true)
  })

  it('is killed for good if the earlier run was killed while ending it', async () => {
    const base = createTestFolder()
    const { job } = await startOrphan(base, 'echo up; sleep 60')
    writeFileSync(join(job.folder, 'ended'), 'idle\n')

    expect(await superviseProcess(job)).toMatchObject({ ended: 'idle', lost: false })
    expect(await findLeftovers(base)).toEqual([])
  })

  it.each([
    ['pid', '123 half a li', 'never-started'],
    ['exit', '1', 'never-started'],
    ['exit', '1\n', 'ended'],
    ['ended', 'aborted\n', 'aborted'],
    ['ended', 'idle\n', 'ended'],
    ['ended', 'somehow\n', 'never-started'],
  ])('counts a line once it is complete: %s with %j is %s', (name, text, state) => {
    const folder = createTestFolder()
    writeFileSync(join(folder, name), text)
    expect(attemptState(folder)).toBe(state)
  })
})

it('survives if it deletes its own folder, and its output is kept', async () => {
  const base = createTestFolder()
  const { job, output } = startTestJob(base, `rm -rf '${base}/attempt'; echo still here; exit 6`)

  expect(await superviseProcess(job)).toEqual({ code: 6, lost: false })
  expect(output()).toBe('still here\n')
  expect(readFileSync(join(job.folder, 'transcript.jsonl'), 'utf8')).toBe('still here\n')
  expect(readFileSync(join(job.folder, 'exit'), 'utf8')).toBe('6\n')
  rmSync(job.folder, { recursive: true })
  expect(existsSync(job.folder)).toBe(false)
})
