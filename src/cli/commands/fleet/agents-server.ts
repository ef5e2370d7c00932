import { homedir } from 'node:os'
import { resolve } from 'node:path'
import { defaultMachineSettings, type MachineSettings } from '../../../agents-server/inventory.ts'
import { RalphError } from '../../../contract/errors.ts'
import { createRedactor, findEnvSecrets } from '../../../contract/secrets/redact.ts'
import { formatTimestamp } from '../../../contract/time.ts'
import { installedVersion, packageVersion } from '../../io/assets.ts'
import { defineCommand, parsePositiveNumber } from '../../io/command.ts'
import type { Io } from '../../io/io.ts'
import type { ProverWiring } from '../../../host/create-ports.ts'
import { createRunProver } from '../../run/run-prover.ts'
import { caOption } from '../../serve/ca-option.ts'
import { resolveNotes } from '../../serve/settings.ts'
import { ralphHome } from '../../../platform/ralph-home.ts'

const options = {
  backend: { type: 'string', value: 'HOST:PORT', description: 'join: address where the backend listens for machines' },
  name: { type: 'string', value: 'NAME', description: 'join: name of the machine (default: its host name)' },
  labels: { type: 'string', value: 'A,B', description: 'join: labels used to place work' },
  roots: {
    type: 'string',
    value: 'DIR:DIR',
    description: 'join: folders that workspaces may be in (default: your home)',
  },
  slots: { type: 'string', value: 'N', description: 'join: maximum number of prompts at once (default 4)' },
  notes: {
    type: 'string',
    value: 'DIR',
    description: 'join: folder for the notes of agents (default: RALPH_NOTES, else ~/.ralph/notes/{agent})',
  },
  update: {
    type: 'string',
    value: 'COMMAND',
    description:
      'join: command that installs {version} of ralph when an admin of the backend asks for it (default: updates are refused)',
  },
  shared: {
    type: 'boolean',
    description:
      'join: let other users with a grant run agents under your account on this computer (default: only you)',
  },
  run: { type: 'boolean', description: 'join: then run the agents-server, as without arguments' },
  'if-needed': {
    type: 'boolean',
    description: 'join: do nothing if this machine has joined and its certificate is valid',
  },
  ca: caOption,
  systemd: { type: 'boolean', description: 'print a systemd unit that runs the agents-server, and exit' },
  json: { type: 'boolean', description: 'print the log as JSON lines' },
} as const

type AgentsServerFlags = {
  readonly [K in keyof typeof options]?: (typeof options)[K]['type'] extends 'boolean' ? boolean : string
}

export const agentsServer = defineCommand({
  name: 'agents-server',
  summary: 'Connect this computer to a backend and run its work',
  arguments: ['[join]', '[token]'],
  options,
  details: `Get a token with \`ralph machine token\` on the backend. It works once, expires after 15 minutes, and pins the backend's
identity. The private key of this machine is created here and never leaves it. Without arguments, the agents-server runs in
the foreground and connects to the backend; no port has to be open on this machine. Running agents survive a stop of the
agents-server, and its next start reattaches to them.`,
  examples: [
    'ralph agents-server join ralph1.… --backend ralph.example.com:7258',
    'ralph agents-server',
    'ralph agents-server --systemd > ~/.config/systemd/user/ralph-agents-server.service',
  ],
  async run({ values, positionals: [verb, token] }, io) {
    if (values.systemd === true) {
      io.print(systemdUnit(io))
      return 0
    }
    if (verb === undefined) return runAgentsServer(values, io)
    if (verb !== 'join')
      throw new RalphError('USAGE', `agents-server: unknown argument "${verb}"`, { hint: 'use "join", or no argument' })
    const code = await joinBackendFromCli(token, values, io)
    return values.run === true ? runAgentsServer(values, io) : code
  },
})

async function joinBackendFromCli(
  addressArgument: string | undefined,
  values: AgentsServerFlags,
  io: Io,
): Promise<number> {
  const { hasValidIdentity, joinBackend } = await import('../../../agents-server/remote-agents-server.ts')
  const settings = readMachineSettings(values, io)
  if (values['if-needed'] === true && (await hasValidIdentity(ralphHome(io), io.now()))) {
    if (values.json !== true) io.print('this machine has joined already')
    return 0
  }
  const { token, address } =
    addressArgument === undefined ? await requestToken(values, settings, io) : { token: addressArgument }
  const { machineId, backend } = await joinBackend({
    home: ralphHome(io),
    token,
    backend: parseBackendAddress(values.backend ?? address),
    settings,
    version: packageVersion(),
    onPending: () => io.print('waiting for an admin to approve this machine …'),
  })
  const joined = { machineId, name: settings.name, backend: `${backend.host}:${backend.port}` }
  const next = values.run === true ? '' : '; start with: ralph agents-server'
  io.print(values.json === true ? JSON.stringify(joined) : `joined as "${settings.name}"${next}`)
  return 0
}

/** Asks the backend of RALPH_URL for a token, as containers do: what runs the machine later needs no RALPH_TOKEN. */
async function requestToken(values: AgentsServerFlags, { name, labels }: MachineSettings, io: Io) {
  if (!io.env['RALPH_URL'] || !io.env['RALPH_TOKEN']) {
    throw new RalphError('USAGE', 'agents-server join: missing token', {
      hint: 'ralph machine token prints one; or set RALPH_URL and RALPH_TOKEN (an admin of the backend)',
    })
  }
  const { createBackendClient } = await import('../../serve/running-backend.ts')
  const { token, command } = await createBackendClient({ ca: values.ca }, io).makeJoinToken({
    name,
    labels: [...labels],
  })
  return { token, address: / --backend (\S+)/.exec(command)?.[1] }
}

async function runAgentsServer(values: AgentsServerFlags, io: Io): Promise<number> {
  const { startRemoteAgentsServer } = await import('../../../agents-server/remote-agents-server.ts')
  const log = createAgentsServerLog(values.json === true, io)
  const program = { version: packageVersion(), installedVersion }
  const createProver = (wiring: ProverWiring) => createRunProver(wiring, io)
  const server = await startRemoteAgentsServer({ home: ralphHome(io), env: io.env, createProver, ...program, log })
  log('agents-server started', { pid: process.pid })
  const ended = await Promise.race([
    waitForStopSignal(),
    server.updated.then((version) => ({ version })),
    server.refused.then((why) => ({ why })),
  ])
  await server.close()
  if ('why' in ended) throw new RalphError('MACHINE_REFUSED', ended.why, { hint: 'join again with a new token' })
  if ('version' in ended) log('ralph was updated and needs a restart', ended)
  // Running agents may need hours, so do not wait for them: they survive until the next start.
  process.exit(0)
}

const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

const waitForStopSignal = (): Promise<{ readonly signal: string }> =>
  new Promise((done) => {
    for (const signal of signals) process.once(signal, () => done({ signal }))
  })

function createAgentsServerLog(json: boolean, io: Io) {
  const redact = createRedactor(findEnvSecrets(io.env))
  return (text: string, about: Readonly<Record<string, unknown>> = {}): void => {
    const at = formatTimestamp(io.now())
    const line = json ? JSON.stringify({ at, text, ...about }) : `${at}  ${text}${formatLogFields(about)}`
    io.printError(redact(line))
  }
}

const formatLogFields = (about: Readonly<Record<string, unknown>>): string =>
  Object.entries(about)
    .map(([name, value]) => `  ${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join('')

function readMachineSettings(values: AgentsServerFlags, io: Io): MachineSettings {
  const usual = defaultMachineSettings(ralphHome(io), io.env['HOME'] ?? homedir())
  const slots = parsePositiveNumber(values.slots, '--slots')
  return {
    name: values.name ?? usual.name,
    labels: splitList(values.labels, ',') ?? usual.labels,
    roots: splitList(values.roots, ':')?.map((folder) => resolve(io.cwd, folder)) ?? usual.roots,
    slots: slots ?? usual.slots,
    notes: resolveNotes(values.notes, io),
    update: validateUpdateCommand(values.update),
    ...(values.shared === true && { shared: true }),
  }
}

function validateUpdateCommand(command: string | undefined): string | undefined {
  if (command === undefined || command.includes('{version}')) return command
  throw new RalphError('USAGE', 'the command for --update must contain {version}', {
    hint: '--update "/opt/install-ralph {version}"',
  })
}

const splitList = (text: string | undefined, between: string): string[] | undefined =>
  text
    ?.split(between)
    .map((part) => part.trim())
    .filter((part) => part !== '')

function parseBackendAddress(text: string | undefined) {
  const [, host, port] = /^(?:\[?([^\]]+?)\]?):(\d{1,5})$/.exec(text ?? '') ?? []
  if (host !== undefined && Number(port) <= 65_535) return { host, port: Number(port) }
  throw new RalphError('USAGE', '--backend expects HOST:PORT', {
    hint: '"ralph machine token" prints the whole command',
  })
}

const systemdUnit = (io: Io): string => `# As a user's own service: ~/.config/systemd/user/ralph-agents-server.service
# Run once, or it ends when you log out: loginctl enable-linger
[Unit]
Description=Ralph agents-server
After=network-online.target
Wants=network-online.target

[Service]
Environment=RALPH_HOME=${ralphHome(io)}
# API keys of agents, and PATH if your login shell does not set it. The file may be absent.
EnvironmentFile=-%h/.config/ralph-agents-server.env
# A login shell, so that PATH is what it is today and not what it was when this unit was written.
ExecStart=/bin/sh -lc 'exec "${process.execPath}" "${process.argv[1]}" agents-server'
Restart=always
RestartSec=2
# Agents outlive a restart of the agents-server.
KillMode=process

[Install]
WantedBy=default.target`
