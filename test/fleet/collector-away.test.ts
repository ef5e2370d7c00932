import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../support/folder.ts'
import { root } from '../support/paths.ts'
import { timeoutOptions } from './real-machines.ts'
import { createServedFleet } from './served-fleet.ts'

const often = {
  OTEL_BSP_SCHEDULE_DELAY: '100',
  OTEL_BLRP_SCHEDULE_DELAY: '100',
  OTEL_METRIC_EXPORT_INTERVAL: '300',
  OTEL_METRIC_EXPORT_TIMEOUT: '200',
  OTEL_EXPORTER_OTLP_TIMEOUT: '200',
}

it('completes sprints while the collector of the backend is away, and logs that once', async () => {
  const folder = createTestFolder()
  const away = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9', ...often }
  const { api, machine } = await createServedFleet(folder, 'embedded', away)
  const { id: machineId } = await machine('m1')
  const project = join(folder, 'project')
  mkdirSync(project)
  const program = `command:/bin/sh ${join(root, 'test/fleet/machine-notes-agent.sh')}`
  const workspace = { kind: 'folder' as const, path: project }
  const { id: agentId } = await api().createAgent({ name: 'Counter', machineId, workspace, program })
  writeFileSync(join(project, 'enough'), '2')
  writeFileSync(join(project, 'pace'), '0.5')
  await api().startRalphMode({ agentId, taskDescription: 'count to two', doneWhen: [{ run: 'test -e units' }] })
  const status = async () => (await api().getAgent({ agentId })).sprint?.status
  await expect.poll(status, timeoutOptions).toBe('completed')

  const lines = () => readFileSync(join(folder, 'backend.log'), 'utf8').split('\n')
  const telemetry = () => lines().filter((line) => line.includes('telemetry'))
  await expect.poll(() => telemetry().length, timeoutOptions).toBeGreaterThan(0)
  // Several further exports fail in this time.
  await new Promise((resolve) => setTimeout(resolve, 2000))
  expect(telemetry()).toEqual([
    expect.stringMatching(/"warn".*telemetry is not delivered: .*everything else continues/),
  ])
}, 270_000)
