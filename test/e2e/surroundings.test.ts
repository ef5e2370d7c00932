import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import * as nodeModule from 'node:module'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../support/folder.ts'
import { ralphProgram, root } from '../support/paths.ts'
import { createTestSprint } from '../support/sprint.ts'

const claim = { status: 'goal-complete', summary: 's', goalCompleteSummary: 'all done' }

it('exits silently when its reader goes away', async () => {
  const sprint = await createTestSprint({ sprint: { goal: 'more than a pipe holds '.repeat(10_000) } })
  await sprint.ralph('compile', 's', '--workflows', 'wf')

  const child = spawn(process.execPath, [ralphProgram, 'status', 's', '--json'], { cwd: sprint.at() })
  let stderr = ''
  child.stderr.on('data', (text) => (stderr += String(text)))
  await once(child.stdout, 'readable')
  child.stdout.destroy()
  await once(child, 'close')

  expect({ exitCode: child.exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
})

it('runs a sprint without a home folder', async () => {
  const sprint = await createTestSprint({ sprint: { 'done-when': [] }, answers: { 1: claim } })
  const env = { PATH: `${sprint.at('../bin')}:${process.env['PATH']}`, IS_SANDBOX: '1' }
  const child = spawn(process.execPath, [ralphProgram, 'run', 's', '--workflows', 'wf'], { cwd: sprint.at(), env })
  await once(child, 'close')

  expect(child.exitCode).toBe(0)
  expect(await sprint.progress()).toMatchObject({ status: 'completed' })
})

it.each([
  [['status'], 0, /^no sprints yet/, /^$/],
  [['run', '--goal', 'x', '--agent', 'scripted'], 1, /^$/, /^\S+  error FILE_UNWRITABLE  [^\n]*\n$/],
  [['init', '--goal', 'x', '--yes'], 1, /^$/, /^\S+  error FILE_UNWRITABLE  [^\n]*\n$/],
] as const)('reports on one line that it cannot write here: ralph %s', async (args, exitCode, out, err) => {
  // Not even root can create a folder there.
  const child = spawn(process.execPath, [ralphProgram, ...args], {
    cwd: '/sys',
    env: { ...process.env, HOME: createTestFolder() },
  })
  const output = { stdout: '', stderr: '' }
  child.stdout.on('data', (text) => (output.stdout += String(text)))
  child.stderr.on('data', (text) => (output.stderr += String(text)))
  await once(child, 'close')

  expect({ exitCode: child.exitCode, ...output }).toEqual({
    exitCode,
    stdout: expect.stringMatching(out),
    stderr: expect.stringMatching(err),
  })
})

it('refuses to run where the file system has no locks, in one line, and reads there', async () => {
  const patch = join(createTestFolder(), 'no-locks.cjs')
  // What the kernel answers on some network file systems.
  writeFileSync(
    patch,
    `const Module = require('node:module')
     const load = Module._load
     const tryLock = () => { throw Object.assign(new Error('no locks available'), { code: 'ENOLCK' }) }
     Module._load = (name, ...rest) => name === 'fs-native-extensions' ? { ...load(name, ...rest), tryLock } : load(name, ...rest)`,
  )
  const sprint = await createTestSprint({ env: { NODE_OPTIONS: `--require ${patch}` } })

  expect(await sprint.run()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringMatching(/^\S+  error STATE_UNWRITABLE  this file system has no locks.*local disk[^\n]*\n$/),
  })
  expect(await sprint.calls()).toEqual([])
  expect(await sprint.ralph('status', 's')).toMatchObject({ exitCode: 0 })
})

it.each([0, 2])('refuses a sprint of format version %i, says why, and does not change it', async (version) => {
  const sprint = await createTestSprint()
  await sprint.ralph('compile', 's', '--workflows', 'wf')
  const text = (await sprint.read('s/PROGRESS.yaml')).replace(/^schema-version: 1$/m, `schema-version: ${version}`)
  const moved = await createTestSprint({ files: { 's/PROGRESS.yaml': text } })
  const before = await moved.contents()

  const { exitCode, stdout, stderr } = await moved.ralph('run', 's', '--workflows', 'wf')

  expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: '' })
  expect(stderr).toMatch(/^\S*s\/PROGRESS\.yaml\S*  error PROGRESS_INVALID  schema-version: [^\n]*1[^\n]*\n$/)
  expect(await moved.contents()).toEqual(before)
})

it('optimizes no code of a run that waits, and that of one that has been busy', () => {
  const code = `
    import { postponeOptimizer } from ${JSON.stringify(join(root, 'dist/platform/v8-memory.js'))}
    postponeOptimizer(400)
    const add = (numbers) => numbers.reduce((sum, number) => sum + number, 0)
    const work = (rounds) => { for (let n = 0; n < rounds; n++) add([n, 1, 2, 3, 4, 5, 6, 7]) }
    work(50_000)
    setTimeout(() => {
      console.log('waited')
      const until = process.cpuUsage().user + 2_000_000
      const compute = () => { work(20_000); if (process.cpuUsage().user < until) setImmediate(compute) }
      compute()
    }, 900)`
  const args = ['--trace-opt', '--input-type=module', '-e', code]
  const { stdout } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  const [before = '', after = ''] = stdout.split('waited')

  expect(before).not.toMatch(/completed optimizing/)
  expect(after).toMatch(/completed optimizing/)
})

describe('the compile cache', () => {
  const keeper = join(root, 'dist/platform/compile-cache.js')
  const keepsItself = 'enableCompileCache' in nodeModule

  it('is used only if it is complete and matches the source', async () => {
    const folder = createTestFolder()
    const program = join(folder, 'program.cjs')
    const kept = () => readFileSync(keptFile(folder))

    writeFileSync(program, "console.log('one')")
    expect(await runKept(program)).toBe('one\n')
    const first = kept()
    expect(await runKept(program)).toBe('one\n')
    expect(kept().equals(first)).toBe(true)

    writeFileSync(program, "console.log('two')")
    expect(await runKept(program)).toBe('two\n')
    const second = kept()
    expect(second.equals(first)).toBe(false)

    const file = keptFile(folder)
    writeFileSync(
      file,
      second.map((byte, at) => (at % 16 === 9 ? byte ^ 0xff : byte)),
    )
    expect(await runKept(program)).toBe('two\n')
    expect(kept().subarray(0, 4)).toEqual(second.subarray(0, 4))
  })

  it.skipIf(keepsItself)('is small for --version, and for status contains neither YAML nor the compiler', async () => {
    const sprint = await createTestSprint({ env: { NODE_COMPILE_CACHE: '' } })
    await sprint.ralph('--version')
    const forVersion = readdirSync(sprint.at('../home/.ralph/cache'), { recursive: true })
    await sprint.ralph('status')
    const forStatus = readdirSync(sprint.at('../home/.ralph/cache'), { recursive: true })

    expect(forVersion.filter((name) => /sprint|zod|status/.test(String(name)))).toEqual([])
    expect(forStatus.filter((name) => /sprint|zod/.test(String(name)))).toHaveLength(2)
    expect(forStatus.length).toBeLessThan(10)
  })

  it.skipIf(keepsItself)('contains neither the prover nor a server after a run without checks and cell', async () => {
    const sprint = await createTestSprint({ answers: { '*': claim }, env: { NODE_COMPILE_CACHE: '' } })
    expect(await sprint.run()).toMatchObject({ exitCode: 0 })
    const loaded = readdirSync(sprint.at('../home/.ralph/cache'), { recursive: true }).map(String)

    expect(loaded.filter((name) => name.endsWith('parts-run.cjs'))).toHaveLength(1)
    expect(loaded.filter((name) => /prover|proxy|gateway|webhook|server/.test(name))).toEqual([])
  })

  it.skipIf(keepsItself)(
    'keeps the code of a run, whose V8 flags are its own, beside that of other commands',
    async () => {
      const sprint = await createTestSprint({ answers: { '*': claim }, env: { NODE_COMPILE_CACHE: '' } })
      const cache = sprint.at('../home/.ralph/cache')
      const written = () =>
        readdirSync(cache).flatMap((flags) =>
          readdirSync(join(cache, flags)).map((name) => statSync(join(cache, flags, name)).mtimeMs),
        )
      await sprint.run()
      await sprint.ralph('status')
      const before = written()
      await sprint.run()
      await sprint.ralph('status')

      expect(readdirSync(cache)).toHaveLength(2)
      expect(written()).toEqual(before)
    },
  )

  it('is open before anything but the entry is loaded', () => {
    const parts = readFileSync(ralphProgram, 'utf8').matchAll(/require\("\.\.\/parts\/([^"]+)"\)/g)

    expect([...parts].map(([, part]) => part)).toEqual(['rolldown-runtime.cjs', 'home.cjs'])
  })

  it('is optional where the folder is read-only', async () => {
    const home = join(createTestFolder(), 'home')
    writeFileSync(home, 'a file')
    const env = { ...process.env, HOME: home, RALPH_HOME: home, NODE_COMPILE_CACHE: '' }
    const child = spawn(process.execPath, [ralphProgram, '--version'], { env })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
    await once(child, 'close')

    expect({ exitCode: child.exitCode, output }).toEqual({
      exitCode: 0,
      output: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
    })
  })

  /** The only file in the only folder: one per version of Node and set of V8 flags. */
  function keptFile(folder: string): string {
    const flags = join(folder, 'kept', readdirSync(join(folder, 'kept')).join())
    return join(flags, readdirSync(flags).join())
  }

  async function runKept(program: string): Promise<string> {
    const source = `import { requireCached } from ${JSON.stringify(keeper)}\nrequireCached(process.argv[1], process.argv[2])`
    const args = ['--input-type=module', '-e', source, program, join(program, '../kept')]
    const child = spawn(process.execPath, args)
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += String(text)))
    await once(child, 'close')
    return output
  }
})
