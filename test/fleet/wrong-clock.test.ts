import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../support/paths.ts'
import { createRealFleet, timeoutOptions } from './real-machines.ts'

const hour = 3_600_000

it("lets a machine work whose clock is two hours late, raises an alarm, and shows all times by the backend's clock", async () => {
  const { folder, api, machine } = await createRealFleet('embedded')
  const runStartedAt = Date.now()
  const { id: machineId, row } = await machine('late', {
    NODE_OPTIONS: `--require ${join(root, 'test/fleet/wrong-clock.cjs')}`,
  })
  expect(await row()).toMatchObject({ alarm: expect.stringMatching(/^its clock is off by 7[12]\d\d s$/) })
  expect(Math.abs(((await row())?.clockSkewMs ?? 0) + 2 * hour)).toBeLessThan(0.5 * hour)

  const project = join(folder, 'project')
  mkdirSync(project)
  writeFileSync(join(project, 'enough'), '2')
  writeFileSync(join(project, 'pace'), '0')
  const program = `command:/bin/sh ${join(root, 'test/fleet/machine-notes-agent.sh')}`
  const workspace = { kind: 'folder' as const, path: project }
  const { id: agentId } = await api.createAgent({ name: 'Counter', machineId, workspace, program })
  const { sprintId } = await api.startRalphMode({ agentId, taskDescription: 'count to two' })
  const glance = async () => (await api.getAgent({ agentId })).sprint
  await expect.poll(async () => (await glance())?.status, timeoutOptions).toBe('completed')

  const { items: prompts } = await api.listPrompts({ agentId })
  const { items: events } = await api.listEvents({ sprintId })
  const times = [...prompts.flatMap(({ startedAt, endedAt }) => [startedAt, endedAt]), ...events.map(({ at }) => at)]
  expect(events.map(({ event }) => event.type)).toContain('agent')
  for (const at of times) expect(Math.abs((at ?? 0) - runStartedAt)).toBeLessThan(0.5 * hour)
})
