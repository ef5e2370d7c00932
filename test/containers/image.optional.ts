import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { parse, stringify } from 'yaml'
import { z } from 'zod'
import { createClient } from '../../src/client/client.ts'
import { claude } from '../agents/real-agents.ts'
import { installed } from '../agents/real-sprint.ts'
import { claim } from '../agents/scenarios.ts'
import { findFreePort } from '../support/free-port.ts'
import { fakeClaude, root } from '../support/paths.ts'
import { testPostgres } from '../support/postgres.ts'
import { startStubModel } from '../support/stub-model/server.ts'
import { buildImage, limits, podman } from './podman.ts'

/**
 * The services of compose.yaml with its commands, rights and variables, each started by podman. Only what this machine
 * lacks differs: all containers share the network of the host, so ports are free ones, and Postgres runs beside them.
 */
/** RALPH_IMAGE names an image that is there already. */
const image = process.env['RALPH_IMAGE'] ?? 'localhost/ralph-mode'
const userId = 10_001
const folder = mkdtempSync('/var/tmp/ralph-compose-')
const secret = 'a-secret-of-the-operator'
const poll = { timeout: 180_000, interval: 500 }

const Service = z.looseObject({
  command: z.array(z.string()),
  environment: z.record(z.string(), z.string()).default({}),
  volumes: z.array(z.string()).default([]),
  read_only: z.literal(true),
  tmpfs: z.array(z.string()),
  cap_drop: z.array(z.string()),
  security_opt: z.array(z.string()).default([]),
})
const Compose = z.object({ services: z.record(z.string(), z.unknown()) })
const { services } = Compose.parse(parse(readFileSync(join(root, 'compose.yaml'), 'utf8'), { merge: true }))

const ports = { page: 0, machines: 0 }
let databaseUrl = ''
const started = new Set<string>()
afterAll(() => {
  for (const name of started) podman('rm', '--force', '--time', '0', '--ignore', name)
  rmSync(folder, { recursive: true, force: true })
}, 120_000)

beforeAll(async () => {
  if (process.env['RALPH_IMAGE'] === undefined) buildImage(image)
  Object.assign(ports, { page: await findFreePort(), machines: await findFreePort() })
  databaseUrl = await (await testPostgres()).makeDatabase()
  chmodSync(new URL(databaseUrl).searchParams.get('host') ?? '', 0o755)
})

/** As Compose reads it without the variables: a default, or the secret that the variable must have. */
const interpolate = (text: string): string =>
  text.replace(/\$\{\w+(?::-([^}]*)|:\?[^}]*)?\}/g, (_, value?: string) => value ?? secret)

const withPorts = (text: string): string =>
  text.replaceAll('7257', `${ports.page}`).replaceAll('7258', `${ports.machines}`)

/** Podman's name for an option that Docker has too. */
const securityOption = (option: string): string => (option === 'systempaths=unconfined' ? 'unmask=ALL' : option)

function serviceArgs(service: string, extra: Record<string, string> = {}): string[] {
  const {
    command,
    environment,
    volumes,
    tmpfs,
    cap_drop: drop,
    security_opt: security,
  } = Service.parse(services[service])
  const socket = new URL(databaseUrl).searchParams.get('host') ?? ''
  const values: Record<string, string> = {
    ...environment,
    ...('DATABASE_URL' in environment && { DATABASE_URL: databaseUrl }),
    ...extra,
  }
  const mounts = volumes.map((volume) => {
    const [name = '', place = ''] = volume.split(':')
    return `--volume=${volumeFolder(name)}:${place}`
  })
  return [
    '--network=host',
    '--add-host=backend:127.0.0.1',
    '--read-only',
    ...limits,
    ...tmpfs.map((place) => `--tmpfs=${place}`),
    ...drop.map((capability) => `--cap-drop=${capability}`),
    ...security.map((option) => `--security-opt=${securityOption(option)}`),
    ...mounts,
    ...(service === 'backend' ? [`--volume=${socket}:${socket}`] : []),
    ...Object.entries(values).map(([name, value]) => `--env=${name}=${withPorts(interpolate(value))}`),
    image,
    ...command.map((word) => withPorts(interpolate(word))),
    ...(service === 'backend' ? ['--port', `${ports.page}`] : []),
  ]
}

const origin = (): string => `http://localhost:${ports.page}`

/** A folder in place of a named volume, owned by the user of the image. */
function volumeFolder(name: string): string {
  const place = join(folder, name)
  mkdirSync(place, { recursive: true })
  chownSync(place, userId, userId)
  return place
}

function start(service: string, extra: Record<string, string> = {}): void {
  started.add(service)
  podman('run', '--detach', '--name', service, ...serviceArgs(service, extra))
}

const api = () => createClient({ baseUrl: origin(), token: secret })
const readMachine = async (name: string) => (await api().listMachines({})).items.find((row) => row.name === name)
const inContainer = (service: string, ...words: readonly string[]): string => podman('exec', service, ...words)

/** A program that the machines find on their PATH: in the volume of their home, as an operator would add one. */
function putProgram(service: string, name: string, text: string): void {
  const file = join(volumeFolder(service), 'bin', name)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
  chmodSync(file, 0o755)
}

const path = { PATH: '/data/bin:/usr/local/bin:/usr/bin:/bin' }

it('starts a backend and two machines that join it, healthy, without root and with cells', async () => {
  start('backend')
  await expect
    .poll(
      () =>
        fetch(`${origin()}/readyz`).then(
          (answer) => answer.status,
          () => 0,
        ),
      poll,
    )
    .toBe(200)
  expect(inContainer('backend', 'ralph', 'doctor', '--alive')).toBe('')
  expect(inContainer('backend', 'id', '-u')).toBe(`${userId}`)
  expect(() => inContainer('backend', 'touch', '/usr/x')).toThrow('Read-only file system')
  for (const number of [1, 2]) {
    podman('run', '--rm', ...serviceArgs(`join-${number}`))
    // The second time it has joined already.
    podman('run', '--rm', ...serviceArgs(`join-${number}`))
    putProgram(`machine-${number}`, 'claude', '#!/bin/sh\nexec node /data/bin/claude.mjs /work/project "$@"\n')
    copyFileSync(fakeClaude, join(volumeFolder(`machine-${number}`), 'bin/claude.mjs'))
    start(`machine-${number}`, path)
    await expect.poll(async () => (await readMachine(`machine-${number}`))?.reachable, poll).toBe(true)
  }
  expect(inContainer('machine-1', 'ralph', 'doctor')).toMatch(/✓ sandbox +bubblewrap/)
  expect(inContainer('machine-1', 'sh', '-c', 'echo ${RALPH_TOKEN:-none}')).toBe('none')
})

it('continues a sprint in a new container after its machine was killed', async () => {
  const machineId = (await readMachine('machine-1'))?.id ?? ''
  const project = createProject('work-1')
  const script = {
    answers: {
      1: { run: 'echo started > started; sleep 20', report: { status: 'continue', summary: 'half' } },
      '*': { run: 'echo done > done', report: { status: 'goal-complete', summary: 's', goalCompleteSummary: 'all' } },
    },
  }
  writeFileSync(join(project, 'script.json'), JSON.stringify(script))
  const workspace = { kind: 'folder' as const, path: '/work/project' }
  const { id: agentId } = await api().createAgent({ name: 'One', machineId, workspace, program: 'claude' })
  const sprintYaml = stringify({ workflow: 'ralph', goal: 'Make the file "done"' })
  const { id: sprintId } = await api().startSprint({ agentId, sprintYaml, doneWhen: [{ run: 'test -e done' }] })
  await expect.poll(() => podmanReads('machine-1', '/work/project/started'), poll).toBe('started')
  podman('kill', '--signal=KILL', 'machine-1')
  podman('rm', '--force', 'machine-1')
  start('machine-1', path)
  await expect.poll(async () => (await api().getSprint({ sprintId })).progress.status, poll).toBe('completed')
  expect(podmanReads('machine-1', '/work/project/done')).toBe('done')
  expect((await api().listMachines({})).items.filter(({ name }) => name === 'machine-1')).toHaveLength(1)
})

it('drives the real claude in a container, with its cell', async () => {
  const model = await startStubModel([claim])
  onTestFinished(model.close)
  podman('rm', '--force', '--time', '0', 'machine-2')
  const programs = await installed(claude.installs)
  copyFileSync(realpathSync(join(programs, 'claude')), join(volumeFolder('machine-2'), 'bin/claude'))
  start('machine-2', { ...path, ...claude.env?.(model.url) })
  const hasClaude = async () => {
    const machine = await readMachine('machine-2')
    return machine?.reachable === true && machine.programs.some(({ name }) => name === 'claude')
  }
  await expect.poll(hasClaude, poll).toBe(true)
  createProject('work-2')
  const machineId = (await readMachine('machine-2'))?.id ?? ''
  const workspace = { kind: 'folder' as const, path: '/work/project' }
  const { id: agentId } = await api().createAgent({ name: 'Real', machineId, workspace, program: 'claude' })
  const sprintYaml = stringify({ workflow: 'ralph', goal: 'say something', sandbox: 'required' })
  const { id: sprintId } = await api().startSprint({ agentId, sprintYaml, doneWhen: [] })
  const status = async () => (await api().getSprint({ sprintId })).progress.status
  await expect.poll(status, poll).toMatch(/completed|failed|needs-human/)
  const { items } = await api().listEvents({ sprintId, limit: 200 })
  console.log(
    JSON.stringify(
      items.map(({ event }) => event),
      null,
      1,
    ),
  )
  expect(await status()).toBe('completed')
  expect(model.requests.length).toBeGreaterThan(0)
})

const podmanReads = (service: string, file: string): string => {
  try {
    return inContainer(service, 'cat', file)
  } catch {
    return ''
  }
}

function createProject(volume: string): string {
  const project = join(volumeFolder(volume), 'project')
  mkdirSync(project)
  chownSync(project, userId, userId)
  return project
}
