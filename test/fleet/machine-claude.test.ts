import { randomUUID } from 'node:crypto'
import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startAgentsServer } from '../../src/agents-server/agents-server.ts'
import { claude } from '../agents/real-agents.ts'
import { installed } from '../agents/real-sprint.ts'
import { claim } from '../agents/scenarios.ts'
import { aLive, aProgress } from '../support/builders.ts'
import { aFolder } from '../support/folder.ts'
import { startStubModel } from '../support/stub-model/server.ts'
import { aBackend } from './machine-backend.ts'

const patience = { timeout: 100_000, interval: 100 }

it('drives the real claude over the line: an attempt of a sprint in, its report and its events out', async () => {
  const programs = await installed(claude.installs)
  const model = await startStubModel([claim])
  onTestFinished(model.close)
  const folder = aFolder()
  const [home, project] = [join(folder, 'home'), join(folder, 'project')]
  for (const path of [home, project]) mkdirSync(path)
  for (const [name, content] of Object.entries(claude.home?.(model.url) ?? {})) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), content)
  }
  const backend = await aBackend()
  const machineId = backend.memory.add('here')
  const path = [programs, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
  const server = await startAgentsServer({
    home: join(home, '.ralph'),
    env: { HOME: home, PATH: path, ...claude.env?.(model.url) },
    machineId,
    version: '0.1.0',
    settings: { name: 'here', labels: [], roots: [folder], slots: 1, notes: join(home, 'notes', '{agent}') },
    connect: () => backend.connect(machineId),
    log: () => {},
  })
  onTestFinished(async () => {
    await server.close()
    backend.machines.close()
  })
  const [agentId, promptId, sprintId] = [randomUUID(), randomUUID(), randomUUID()]
  backend.send(machineId, 'create-workspace', { agentId, name: 'one', workspace: { kind: 'folder', path: project } })
  const progress = aProgress({ status: 'in-progress', live: [aLive()], env: { pass: [...(claude.pass ?? [])] } })
  const order = { type: 'run-attempt' as const, iteration: 1, attempt: 1 }
  const asked = { kind: 'order' as const, sprintId, protocol: 'report' as const, order, progress }
  backend.send(
    machineId,
    'prompt',
    { promptId, agentId, program: 'claude', asked, leaseMs: 60_000 },
    `prompt:${promptId}`,
  )

  await expect
    .poll(() => backend.promptEnd(machineId, promptId)?.end, patience)
    .toMatchObject({
      kind: 'fact',
      fact: { type: 'attempt-ended', end: { kind: 'report', report: { status: 'goal-complete' } } },
    })
  const kinds = () =>
    backend.events.get(agentId)?.map(({ event }) => (event.type === 'agent' ? event.event.kind : event.type))
  await expect.poll(kinds, patience).toEqual(expect.arrayContaining(['attempt-started', 'session', 'text', 'terminal']))
  expect(model.requests.length).toBeGreaterThan(0)
  await expect
    .poll(() => backend.inventories.get(machineId)?.programs?.map(({ name }) => name), patience)
    .toContain('claude')
}, 200_000)
