import { mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { stringify } from 'yaml'
import { claude } from '../agents/real-agents.ts'
import { installed } from '../agents/real-sprint.ts'
import { claim } from '../agents/scenarios.ts'
import { startStubModel } from '../support/stub-model/server.ts'
import { createRealFleet, timeoutOptions } from './real-machines.ts'

it('drives the real claude through the fleet: REST, mutual TLS, its own agents-server, and events back (row 176)', async () => {
  const programs = await installed(claude.installs)
  const model = await startStubModel([claim])
  onTestFinished(model.close)
  const { folder, api, machine } = await createRealFleet('embedded')
  const project = join(folder, 'project')
  mkdirSync(project)
  for (const [name, content] of Object.entries(claude.home?.(model.url) ?? {})) {
    mkdirSync(dirname(join(folder, 'claude-home', name)), { recursive: true })
    writeFileSync(join(folder, 'claude-home', name), content)
  }
  const PATH = [programs, dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':')
  const env = { HOME: join(folder, 'claude-home'), PATH, IS_SANDBOX: 'yes', ...claude.env?.(model.url) }
  const { id: machineId, row } = await machine('build-1', env)
  const names = async () => (await row())?.programs.map(({ name }) => name)
  await expect.poll(names, timeoutOptions).toContain('claude')

  // No machine is named: the one that has the program is chosen.
  const workspace = { kind: 'folder' as const, path: project }
  const { id: agentId, ...agent } = await api.createAgent({ name: 'One', workspace, program: 'claude' })
  expect(agent.machineId).toBe(machineId)
  const sprint = { workflow: 'ralph', goal: 'say something', env: { pass: [...(claude.pass ?? [])] } }
  const { id: sprintId } = await api.startSprint({ agentId, sprintYaml: stringify(sprint), doneWhen: [] })
  await expect.poll(async () => (await api.getSprint({ sprintId })).progress.status, timeoutOptions).toBe('completed')
  const kinds = async () => {
    const { items } = await api.listEvents({ sprintId, limit: 200 })
    return items.map(({ event }) => (event.type === 'agent' ? event.event.kind : event.type))
  }
  await expect
    .poll(kinds, timeoutOptions)
    .toEqual(expect.arrayContaining(['attempt-started', 'session', 'text', 'terminal']))
  expect(model.requests.length).toBeGreaterThan(0)
}, 300_000)
