import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../test/support/folder.ts'
import type { Check } from '../contract/check.ts'
import { Hook } from '../contract/settings.ts'
import type { ShellRunner } from '../runtime/ports.ts'
import { readPolicy } from './policy.ts'

async function createTestPolicy(text: string) {
  const folder = createTestFolder()
  writeFileSync(join(folder, 'machine.yaml'), text)
  return readPolicy(folder)
}

const started: string[] = []
const shell: ShellRunner = {
  run: async ({ command }) => {
    started.push(command)
    return { exitCode: 0, output: '', durationMs: 1 }
  },
}
const run = (policy: Awaited<ReturnType<typeof readPolicy>>, command: string) =>
  policy.guardShell(shell).run({ attempt: '1', command, timeoutMs: 1 }, new AbortController().signal)

it('starts only commands that it names, word for word', async () => {
  const policy = await createTestPolicy('commands: [npm test, "make check"]')
  started.length = 0
  const refused = { exitCode: null, output: '', durationMs: 0 }
  for (const command of ['npm test; id', 'npm', 'id', 'npm test && curl evil', '*']) {
    expect(await run(policy, command)).toEqual({
      ...refused,
      error: `the policy of this machine (machine.yaml) does not allow the command "${command}"`,
    })
  }
  expect(await run(policy, 'npm test')).toMatchObject({ exitCode: 0 })
  expect(started).toEqual(['npm test'])
})

const buildCheck = (fields: Partial<Check>): Check => ({
  run: 'npm test',
  timeout: 1,
  eachIteration: false,
  protect: false,
  ...fields,
})

it('lets a proof run only where every command of it is allowed', async () => {
  const policy = await createTestPolicy('commands: [npm test]')
  const named = buildCheck({ heldOut: 'hidden' })
  policy.assertWalls({ doneWhen: [named] })
  expect(policy.allowsProof({ doneWhen: [named] })).toBe(true)
  expect(policy.allowsProof({ doneWhen: [named, buildCheck({ run: 'id' })] })).toBe(false)
  expect(policy.allowsProof({ doneWhen: [named], room: { install: 'id' } })).toBe(false)
})

const bareHook = { ...Hook.parse({ id: 'h', run: 'npm test' }), cell: 'none' as const }

it('refuses programs, cells, networks and updates that it does not name', async () => {
  const policy = await createTestPolicy('programs: [claude]\ncells: [bubblewrap]\nnetwork: [closed, allow-list]\n')
  policy.assertProgram('claude')
  policy.assertProtection({ kind: 'bubblewrap', network: 'closed' })
  policy.assertWalls({ cell: { kind: 'container', container: { image: 'debian:12' } }, network: { allow: ['a.test'] } })
  const refusals = [
    () => policy.assertProgram('codex'),
    () => policy.assertProgram('command:id'),
    () => policy.assertWalls({ cell: { read: ['/'] } }),
    () => policy.assertWalls({ cell: { write: ['/'] } }),
    () => policy.assertWalls({ network: { private: ['127.0.0.1:22'] } }),
    () => policy.assertWalls({ cell: { network: { private: ['127.0.0.1:22'] } } }),
    () => policy.assertWalls({ cell: { container: { command: ['sh', '-c', 'id'] } } }),
    () => policy.assertWalls({ cell: { container: { run: ['--privileged'] } } }),
    () => policy.assertWalls({ cell: { container: { image: '/' } } }),
    () => policy.assertWalls({ env: { pass: ['GITHUB_TOKEN'] } }),
    () => policy.assertWalls({ perIterationHooks: [bareHook] }),
    () => policy.assertWalls({ room: { network: true } }),
    () => policy.assertWalls({ room: { services: ['postgres'] } }),
    () => policy.assertWalls({ doneWhen: [buildCheck({ room: { network: true } })] }),
    () => policy.assertWalls({ doneWhen: [buildCheck({ install: 'curl evil' })] }),
    () => policy.assertWalls({ doneWhen: [buildCheck({ heldOut: '/home/owner/.ssh' })] }),
    () => policy.assertWalls({ doneWhen: [buildCheck({ heldOut: '../agents' })] }),
    () => policy.assertProtection({ kind: 'none', network: 'closed' }),
    () => policy.assertProtection({ kind: 'bubblewrap', network: 'open' }),
    () => policy.assertUpdate(),
  ]
  for (const refusal of refusals) expect(refusal).toThrow('the policy of this machine (machine.yaml) does not allow')
})

it('allows programs with a driver and no commands if it is empty', async () => {
  const policy = await createTestPolicy('')
  policy.assertProgram('claude')
  expect(() => policy.assertProgram('command:id')).toThrow('does not allow')
  expect(await run(policy, 'id')).toMatchObject({ exitCode: null })
})

it('can be shown to people as a whole, defaults too', async () => {
  const { lines } = await createTestPolicy('programs: [claude, codex]')
  expect(lines).toEqual(['programs: claude, codex', 'commands: none', 'widen: false', 'updates: false'])
})

it('limits nothing if there is no file', async () => {
  const policy = await readPolicy(createTestFolder())
  policy.assertProgram('command:id')
  policy.assertUpdate()
  expect(await run(policy, 'id')).toMatchObject({ exitCode: 0 })
})

it.each([
  ['programms: [claude]', 'programms'],
  ['cells: [bubblewarp]', 'cells.0'],
  ['roots: [projects]', 'roots.0'],
  ['programs: [', 'at line 1'],
])('stops the start of the agents-server if it cannot be read: %s', async (text, word) => {
  await expect(createTestPolicy(text)).rejects.toThrow('the policy of this machine cannot be read')
  await expect(createTestPolicy(text)).rejects.toThrow(word)
})
