import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'
import { claude } from '../../agents/drivers/claude.ts'
import { inspectAgent } from '../../agents/supervise/inspect.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { createTestIo } from '../../../test/support/test-io.ts'
import { examineMachine } from './examine-machine.ts'
import { createInspector } from './inspector.ts'

/** A project with programs that an agent left there, first on PATH as `npm run` puts them. */
function createMachine(planted: readonly string[]) {
  const base = createTestFolder()
  const [project, tools] = [join(base, 'project'), join(base, 'tools')]
  const own = join(project, 'node_modules/.bin')
  for (const folder of [join(project, '.git'), own, tools]) mkdirSync(folder, { recursive: true })
  for (const name of planted)
    writeFileSync(join(own, name), `#!/bin/sh\ntouch '${base}/ran'\necho 9.9.9\n`, { mode: 0o755 })
  const path = [own, tools, dirname(process.execPath), '/usr/bin', '/bin'].join(':')
  const { io } = createTestIo({ cwd: project, env: { PATH: path, HOME: base } })
  return { io, project, own, tools, hasRun: () => existsSync(join(base, 'ran')) }
}

it('finds an agent program in the project, and does not run it', async () => {
  const { io, own, hasRun } = createMachine(['claude'])
  const inspection = await inspectAgent(claude, createInspector(claude, io))
  expect([inspection.path, inspection.version, hasRun()]).toEqual([join(own, 'claude'), undefined, false])
})

it('runs an installed agent program with no program of the project', async () => {
  const { io, tools, hasRun } = createMachine(['node'])
  writeFileSync(join(tools, 'claude'), '#!/usr/bin/env node\nconsole.log("2.1.3")\n', { mode: 0o755 })
  const inspection = await inspectAgent(claude, createInspector(claude, io))
  expect([inspection.version, hasRun()]).toEqual(['2.1.3', false])
})

it('looks at git of the machine, not at one in the project', async () => {
  const { io, project, hasRun } = createMachine(['git'])
  const git = (await examineMachine(project, io)).find(({ name }) => name === 'git')
  expect([git, hasRun()]).toEqual([{ name: 'git', ok: true, text: expect.stringMatching(/^2\./) }, false])
})

it('says that IS_SANDBOX switches the cell off', async () => {
  const { io, project } = createMachine([])
  const sandbox = async (env: Record<string, string>) =>
    (await examineMachine(project, { ...io, env: { ...io.env, ...env } })).find(({ name }) => name === 'sandbox')
  expect((await sandbox({}))?.text).not.toContain('IS_SANDBOX')
  expect(await sandbox({ IS_SANDBOX: 'yes' })).toEqual({
    name: 'sandbox',
    ok: false,
    text: 'none, because IS_SANDBOX is set; "sandbox: required" adds one all the same',
  })
})
