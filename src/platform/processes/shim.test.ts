import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { isRunning, kill, markedProcesses } from '../../../test/support/processes.ts'
import { attemptState, readProcessId, settledState } from './attempt-folder.ts'
import { startUnderShim } from './shim.ts'
import { superviseProcess, type SupervisedProcess } from './supervised-process.ts'

/** Runs a program as attempt `name` below `base`; by default a shell script. */
function startRun(
  base: string,
  name: string,
  overrides: Partial<SupervisedProcess> & { readonly script?: string } = {},
) {
  const job: SupervisedProcess = {
    folder: join(base, name),
    file: '/bin/sh',
    args: ['-c', overrides.script ?? 'exit 0'],
    cwd: base,
    env: { PATH: process.env['PATH'] ?? '', BASE: base },
    stdin: '',
    files: {},
    mark: `${base}/#${name}`,
    onOutput: () => {},
    overdue: () => undefined,
    signal: new AbortController().signal,
    graceMs: 300,
    ...overrides,
  }
  onTestFinished(() => markedProcesses(base).forEach(({ pid }) => kill(pid)))
  return { ended: superviseProcess(job), shim: () => readProcessId(job.folder)?.pid ?? 0 }
}

const readOutput = (base: string, name: string) => readFileSync(join(base, name, 'transcript.jsonl'), 'utf8')

async function waitUntil(isSo: () => boolean): Promise<void> {
  for (let tries = 0; tries < 1000 && !isSo(); tries++) await sleep(10)
  expect(isSo()).toBe(true)
}

const ok = { code: 0, lost: false }

describe('a shim', () => {
  it('is reused for the next program with the same folder and environment, and serves one program at a time', async () => {
    const base = createTestFolder()
    const first = startRun(base, 'a')
    await first.ended
    const second = startRun(base, 'b', { script: `while [ ! -e '${base}/go' ]; do sleep 0.02; done` })
    const third = startRun(base, 'c')

    expect(await third.ended).toEqual(ok)
    writeFileSync(join(base, 'go'), '')
    expect(await second.ended).toEqual(ok)
    expect(second.shim()).toBe(first.shim())
    expect(third.shim()).not.toBe(first.shim())
  })

  it('passes arguments and variables byte for byte, whether it is new or reused', async () => {
    const base = createTestFolder()
    const everything = Array.from({ length: 0x2ff }, (_, n) => String.fromCodePoint(n + 1)).join('')
    const words = [
      '',
      ' ',
      "it's",
      "''",
      '"',
      '$HOME $(id) `id` ${x}',
      '\\',
      '\\n',
      'a\nb\r\n',
      '-n',
      '*',
      '~',
      '#',
      '&;|<>(){}',
    ]
    const args = [...words, everything, '末😀\u0301', 'x'.repeat(50_000)]
    const show = 'process.stdout.write(JSON.stringify([process.argv.slice(1), process.env, process.cwd()]))'
    for (const [name, value] of Object.entries({ one: everything, two: "'\n$x", three: '' })) {
      const env = { EMPTY: '', 'not-a-name': 'x', VALUE: value }
      const node = { file: process.execPath, args: ['-e', show, '--', ...args], env }
      expect(await startRun(base, name, node).ended).toEqual(ok)
      const [gotArgs, gotEnv, cwd] = JSON.parse(readOutput(base, name))

      expect(gotArgs).toEqual(args)
      expect(gotEnv).toMatchObject({ EMPTY: '', VALUE: value, RALPH_ATTEMPT: `${base}/#${name}` })
      expect(Object.keys(gotEnv).filter((variable) => /^(ralph_|stat$|boot$|dir$|code$)/.test(variable))).toEqual([])
      expect(cwd).toBe(base)
    }
  })

  it('leaks nothing from one program to the next: no variable, no file, no folder', async () => {
    const base = createTestFolder()
    const script = 'echo "$OLD,$NEW"; for fd in /proc/$$/fd/*; do case $(readlink $fd) in socket*) echo $fd; esac; done'
    await startRun(base, 'a', { script: 'cd /; export NEW=1; exec 9>/dev/null' }).ended
    await startRun(base, 'b', { script, env: { PATH: '/usr/bin:/bin', OLD: '1' } }).ended
    await startRun(base, 'c', { script, env: { PATH: '/usr/bin:/bin' } }).ended

    expect(readOutput(base, 'b')).toBe('1,\n')
    expect(readOutput(base, 'c')).toBe(',\n')
  })

  it('is not reused for a new folder at the path of its own', async () => {
    const base = createTestFolder()
    const cwd = join(base, 'work')
    mkdirSync(cwd)
    await startRun(base, 'a', { cwd }).ended
    renameSync(cwd, join(base, 'old'))
    mkdirSync(cwd)
    await startRun(base, 'b', { cwd, script: 'touch here' }).ended

    expect(existsSync(join(cwd, 'here'))).toBe(true)
  })

  it('is replaced if it was killed while idle', async () => {
    const base = createTestFolder()
    const first = startRun(base, 'a')
    await first.ended
    kill(first.shim())
    const second = startRun(base, 'b', { script: 'exit 3' })

    expect(await second.ended).toEqual({ code: 3, lost: false })
    expect(second.shim()).not.toBe(first.shim())
  })

  it('takes only its own program along if it is killed, and the next one starts', async () => {
    const base = createTestFolder()
    const script = `echo up; while [ ! -e '${base}/go' ]; do sleep 0.02; done; exit 4`
    const hit = startRun(base, 'a', { script, onOutput: () => kill(hit.shim()) })
    const other = startRun(base, 'b', { script })

    expect(await hit.ended).toEqual({ code: null, lost: true })
    expect(markedProcesses(base).map(({ mark }) => mark)).not.toContain(`${base}/#a`)
    writeFileSync(join(base, 'go'), '')
    expect(await other.ended).toEqual({ code: 4, lost: false })
    expect(await startRun(base, 'c').ended).toEqual(ok)
  })

  it('ends with a program that the supervisor had to end', async () => {
    const base = createTestFolder()
    const run = startRun(base, 'a', {
      script: 'echo up; sleep 60',
      overdue: (bytes) => (bytes > 0 ? 'idle' : undefined),
    })

    expect(await run.ended).toMatchObject({ ended: 'idle' })
    await waitUntil(() => !isRunning(run.shim()))
  })

  it('ends when it can get no more work, but not before its program', async () => {
    const base = createTestFolder()
    const folder = join(base, 'a')
    mkdirSync(folder)
    for (const name of ['prompt.md', 'transcript.jsonl', 'stderr.log']) writeFileSync(join(folder, name), '')
    const args = ['-c', `while [ ! -e '${base}/go' ]; do sleep 0.02; done; exit 5`]
    const shim = await startUnderShim({ folder, file: '/bin/sh', args, cwd: base, env: {} })
    shim.retire()
    await waitUntil(() => attemptState(folder) === 'running')
    writeFileSync(join(base, 'go'), '')

    await waitUntil(() => !isRunning(shim.id.pid))
    expect(readFileSync(join(folder, 'exit'), 'utf8')).toBe('5\n')
  })

  it('starts nothing in a folder that was given up', async () => {
    const base = createTestFolder()
    const folder = join(base, 'a')
    mkdirSync(folder)
    for (const name of ['prompt.md', 'transcript.jsonl', 'stderr.log']) writeFileSync(join(folder, name), '')
    expect(await settledState(folder)).toBe('never-started')
    const file = '/usr/bin/touch'
    const shim = await startUnderShim({ folder, file, args: [join(base, 'begun')], cwd: base, env: {} })
    await waitUntil(shim.isOver)

    expect(shim.reportedCode()).toBe(undefined)
    expect(existsSync(join(base, 'begun'))).toBe(false)
    expect(attemptState(folder)).toBe('never-started')
  })

  it('rejects an argument that no program can receive', async () => {
    const base = createTestFolder()
    await expect(startRun(base, 'a', { args: ['-c', 'a\0b'] }).ended).rejects.toThrow(/NUL/)
  })
})

it('does not give up a folder in which a shim is about to start', async () => {
  const folder = createTestFolder()
  writeFileSync(join(folder, 'pid'), '')
  const settled = settledState(folder)
  const [, stat = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ')
  const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()
  writeFileSync(join(folder, 'pid'), `${process.pid} ${boot} ${stat}`)

  expect(await settled).toBe('running')
})
