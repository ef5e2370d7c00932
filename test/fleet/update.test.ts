import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { timeoutOptions } from './real-machines.ts'
import { createServedFleet } from './served-fleet.ts'

/** The package as installed, except for its version. */
function createTestPackage(folder: string, version: string): void {
  mkdirSync(folder, { recursive: true })
  for (const name of ['bin', 'assets', 'schemas']) cpSync(join(root, name), join(folder, name), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  const manifest: object = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ ...manifest, version }))
}

it('updates a machine remotely as configured there, while its agent keeps running', async () => {
  const folder = createTestFolder()
  const packages = join(folder, 'packages')
  for (const version of ['0.0.1', '0.0.2']) createTestPackage(join(packages, version), version)
  symlinkSync('0.0.1', join(packages, 'current'))
  const fleet = await createServedFleet(folder, 'embedded')
  const api = fleet.api()
  const machine = await fleet.machine('m1', {
    installed: {
      program: join(packages, 'current/bin/cli/main.cjs'),
      update: `test -d ${packages}/{version} && ln -sfn {version} ${packages}/current`,
    },
  })
  expect(await machine.row()).toMatchObject({ version: '0.0.1', reachable: true })
  const program = `command:/bin/sh ${join(root, 'test/fleet/machine-agent.sh')} ${join(folder, 'effects')}`
  const workspace = { kind: 'folder' as const, path: folder }
  const { id: agentId } = await api.createAgent({ name: 'Worker', machineId: machine.id, workspace, program })
  const { id: promptId } = await api.queuePrompt({ agentId, prompt: 'sleep 5\neffect one\nsay done' })
  const prompt = async () => (await api.listPrompts({ agentId })).items.find(({ id }) => id === promptId)
  await expect.poll(async () => (await prompt())?.status, timeoutOptions).toBe('running')

  const refused = api.updateMachine({ machineId: machine.id, version: '0.0.9' })
  await expect(refused).rejects.toMatchObject({
    code: 'MACHINE_REFUSED',
    message: expect.stringContaining('exit code 1'),
  })
  await api.updateMachine({ machineId: machine.id, version: '0.0.2' })
  await expect.poll(() => machine.exitCode(), timeoutOptions).toBe(0)
  machine.start()

  await expect.poll(machine.row, timeoutOptions).toMatchObject({ version: '0.0.2', reachable: true })
  await expect.poll(async () => (await prompt())?.status, timeoutOptions).toBe('finished')
  expect(readFileSync(join(folder, 'effects'), 'utf8')).toBe('one\n')
})
