import { userInfo } from 'node:os'
import { join } from 'node:path'
import { startAgentsServer, type AgentsServer } from '../../agents-server/agents-server.ts'
import { defaultMachineSettings } from '../../agents-server/inventory.ts'
import { openBackend, type Backend } from '../../backend/open-backend.ts'
import { RalphError } from '../../contract/errors.ts'
import { createRedactor, findEnvSecrets } from '../../contract/secrets/redact.ts'
import { formatTimestamp } from '../../contract/time.ts'
import { createFolder, removeFile } from '../../platform/files/files.ts'
import { writePrivateFile } from '../../platform/files/private-file.ts'
import { isTelemetryOn, openTelemetry } from '../../telemetry/telemetry.ts'
import { assetPath, packageVersion, pagePath } from '../io/assets.ts'
import { createRunProver } from '../run/run-prover.ts'
import { compileInputs } from '../sprint/compile-sprint.ts'
import type { Io } from '../io/io.ts'
import { startAutomaticBackups } from './automatic-backups.ts'
import { createDemoSprints, type DemoPlace } from './demo-sprints.ts'
import { createObservedSprints } from './observe-requests.ts'
import { createProjectView } from './project-agent.ts'
import { ralphHome } from '../../platform/ralph-home.ts'
import { readRunningBackend, runningBackendFile } from './running-backend.ts'
import { readSecretsKey } from './secrets-key.ts'
import type { ServeSettings } from './settings.ts'

export type ServeOptions = { readonly withMachine: boolean; readonly demo: boolean; readonly json: boolean }

/** Runs a backend until it receives a stop signal. */
export async function runBackend(settings: ServeSettings, options: ServeOptions, io: Io): Promise<number> {
  const log = createServeLog(options, io)
  await createFolder(settings.dataFolder)
  const ending = waitForServeSignal()
  const secretsKey = await readSecretsKey(settings, io)
  const project = createProjectView(io, log)
  const telemetry = await openServeTelemetry(log, io)
  const demo = createDemoSprints(io, log)
  const own: { place?: DemoPlace } = {}
  const startDemo = () => demo.start(assertConnected(own.place))
  const backend = await openBackend({
    ...settings,
    traces: telemetry?.traces,
    secretsKey,
    migrations: assetPath('migrations'),
    page: pagePath(),
    version: packageVersion(),
    userName: userInfo().username,
    project: io.cwd,
    compiling: compileInputs(join(io.cwd, '.claude', 'workflows'), io),
    ...(options.withMachine && { startDemo }),
    observed: createObservedSprints(() => [...present(project.observer()), ...demo.observers()], io),
    log,
    onLost: (reason) => ending.now(reason),
  }).catch(exitAfterFailedStart)
  if (secretsKey === undefined) log('warn', unsealedSecrets)
  const machine = options.withMachine ? await startLocalMachine(backend, settings, { io, log }) : undefined
  if (machine) {
    own.place = { fleet: backend.fleet, machineId: machine.machineId, userName: userInfo().username }
    project.show(own.place)
    await demo.show(own.place)
    if (options.demo) await startDemo()
  }
  const announced = await announceBackend(backend, settings, io)
  const { dataFolder, backups: keep, place } = settings
  const backups = keep > 0 && !('url' in place) ? startAutomaticBackups({ dataFolder, keep, log }, io) : undefined
  const address = await backend.ticketAddress()
  if (options.json) io.print(JSON.stringify({ origin: backend.origin, machinePort: backend.machinePort, address }))
  else io.print(welcomeLines(backend, address, { ...settings, withMachine: options.withMachine }))
  const reason = await ending.reason
  log('info', 'stopping', { reason })
  backups?.stop()
  await announced.withdraw()
  await project.close()
  await demo.close()
  await machine?.server.close()
  await backend.close()
  await telemetry?.close()
  // Running agents continue without this process and are supervised by the next start.
  setImmediate(() => process.exit())
  return reason === 'SIGINT' || reason === 'SIGTERM' || reason === 'SIGHUP' ? 0 : 1
}

/** Leaves the address and a token for other commands of the same user. */
async function announceBackend(backend: Backend, { dataFolder, certificateFile: certificate }: ServeSettings, io: Io) {
  const before = readRunningBackend(dataFolder)
  const token = await backend.commandToken()
  const served = { origin: backend.origin, token, pid: process.pid, certificate, startedAt: formatTimestamp(io.now()) }
  await writePrivateFile(runningBackendFile(dataFolder), `${JSON.stringify(served)}\n`)
  if (before) await backend.deleteCommandToken(before.token)
  return {
    withdraw: async () => {
      // A newer backend may have started on the same folder, to replace this one.
      if (readRunningBackend(dataFolder)?.token === token) await removeFile(runningBackendFile(dataFolder))
      await backend.deleteCommandToken(token).catch(() => {})
    },
  }
}

const exitGraceMs = 1000

/** Parts of the engine may have started, and would keep a process alive that serves nothing. */
function exitAfterFailedStart(error: unknown): never {
  setTimeout(() => process.exit(), exitGraceMs).unref()
  throw error
}

/** Sends sprints to a collector if the `OTEL_*` variables name one. Loads nothing otherwise. */
async function openServeTelemetry(log: ReturnType<typeof createServeLog>, io: Io) {
  if (!isTelemetryOn(io.env)) return undefined
  const { createFleetTraces } = await import('../../telemetry/trace-fleet.ts')
  const onTrouble = (text: string) => log('warn', text)
  const about = { env: io.env, service: 'ralph-backend', version: packageVersion(), onTrouble }
  const telemetry = await openTelemetry(about)
  return telemetry && { traces: createFleetTraces(telemetry), close: telemetry.close }
}

const present = <T>(value: T | undefined): T[] => (value === undefined ? [] : [value])

function assertConnected(place: DemoPlace | undefined): DemoPlace {
  if (place) return place
  throw new RalphError('NOT_SUPPORTED', 'the machine of this computer is not connected yet', { hint: 'try again' })
}

const unsealedSecrets =
  'secrets in the database are not encrypted: set RALPH_SECRETS_KEY or RALPH_SECRETS_KEY_FILE, the same for all replicas'

const welcomeLines = (
  { origin, machinePort }: Backend,
  address: string,
  { place, withMachine }: ServeSettings & Pick<ServeOptions, 'withMachine'>,
): string =>
  [
    `Ralph runs at ${origin}`,
    '',
    `  open        ${address}`,
    '              (works once, within a minute; `ralph serve --ticket` prints another one)',
    `  database    ${'url' in place ? 'the Postgres server of DATABASE_URL' : place.dataFolder}`,
    `  machines    ${machinePort === undefined ? `${withMachine ? 'only this one' : 'none'}; --machines-port lets others join` : `join on port ${machinePort}: ralph machine token`}`,
    '',
    'Press Ctrl-C to stop; running agents continue, and the next start reattaches to them.',
  ].join('\n')

async function startLocalMachine(
  backend: Backend,
  { dataFolder, notes }: ServeSettings,
  { io, log }: { readonly io: Io; readonly log: ReturnType<typeof createServeLog> },
): Promise<{ readonly machineId: string; readonly server: AgentsServer }> {
  const home = join(dataFolder, 'machine')
  const usual = defaultMachineSettings(home, io.env['HOME'] ?? '/')
  const { machineId, connect } = await backend.localMachine(usual.name)
  const server = await startAgentsServer({
    home,
    env: io.env,
    machineId,
    connect,
    version: packageVersion(),
    limitsHome: ralphHome(io),
    createProver: (wiring) => createRunProver(wiring, io),
    // The folder holds the database and the page's token.
    alsoHidden: [dataFolder],
    settings: {
      ...usual,
      roots: [...new Set([...usual.roots, io.cwd])],
      notes,
    },
    log: (text, about) => log('info', text, about),
  })
  return { machineId, server }
}

/** One line per event: short for people, JSON for programs; never with a secret. */
function createServeLog({ json }: ServeOptions, io: Io) {
  const redact = createRedactor(findEnvSecrets(io.env))
  return (level: 'info' | 'warn', text: string, about: Readonly<Record<string, unknown>> = {}): void => {
    if (json) io.printError(redact(JSON.stringify({ at: formatTimestamp(io.now()), level, text, ...about })))
    else if (level === 'warn') io.printError(redact(`warning: ${text}`))
  }
}

function waitForServeSignal() {
  const own: { end?: (reason: string) => void } = {}
  const reason = new Promise<string>((resolve) => (own.end = resolve))
  const now = (why: string): void => own.end?.(why)
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(name, () => now(name))
  return { reason, now }
}
