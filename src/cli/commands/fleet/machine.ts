import type { Client } from '../../../client/client.ts'
import { RalphError } from '../../../contract/errors.ts'
import type { Machine } from '../../../contract/fleet/machine.ts'
import { defineCommand } from '../../io/command.ts'
import { caOption } from '../../serve/ca-option.ts'
import { createBackendClient } from '../../serve/running-backend.ts'

const verbs = ['token', 'list', 'approve', 'cordon', 'drain', 'free', 'update', 'revoke'] as const
type MachineVerb = (typeof verbs)[number]

export const machine = defineCommand({
  name: 'machine',
  summary: 'Connect, approve and manage machines',
  arguments: [`<${verbs.join('|')}>`, '[machine]'],
  options: {
    name: { type: 'string', value: 'NAME', description: 'token: name of the machine' },
    labels: { type: 'string', value: 'A,B', description: 'token: labels of the machine' },
    approve: { type: 'boolean', description: 'token: require an admin to approve the machine' },
    version: { type: 'string', value: 'X.Y.Z', description: "update: version to install (default: the backend's)" },
    data: { type: 'string', value: 'DIR', description: 'data folder of the backend (default ~/.ralph/backend)' },
    ca: caOption,
    json: { type: 'boolean', description: 'print JSON' },
  },
  details: `token    print the command that connects a machine; valid for 15 minutes
list     list all machines and when each was last seen
approve  approve a waiting machine
cordon   start no new work there
drain    start no new work there, and finish what is running
free     undo cordon and drain
update   install another version of ralph there, if the machine allows it (agents-server join --update); agents keep running
revoke   revoke its certificate; it cannot reconnect

Name a machine by its name or id. The command talks to the backend on this computer, or to the one that RALPH_URL and
RALPH_TOKEN name.`,
  examples: ['ralph machine token', 'ralph machine list', 'ralph machine drain build-1'],
  async run({ values, positionals: [action = '', which] }, io) {
    const verb = verbs.find((name) => name === action)
    if (!verb)
      throw new RalphError('USAGE', `machine: unknown command "${action}"`, { hint: `use one of ${verbs.join(', ')}` })
    const client = createBackendClient(values, io)
    const labels = values.labels?.split(',').map((label) => label.trim())
    const tokenOptions = { name: values.name, labels, approve: values.approve }
    const done = await runMachineVerb(verb, which, { client, tokenOptions, version: values.version })
    io.print(values.json === true ? JSON.stringify(done.json) : done.text)
    return 0
  },
})

type MachineRequest = {
  readonly client: Client
  readonly version: string | undefined
  readonly tokenOptions: {
    readonly name: string | undefined
    readonly labels: string[] | undefined
    readonly approve: boolean | undefined
  }
}

type MachineResult = { readonly json: unknown; readonly text: string }

async function runMachineVerb(
  verb: MachineVerb,
  which: string | undefined,
  { client, tokenOptions, version }: MachineRequest,
): Promise<MachineResult> {
  if (verb === 'token') {
    const token = await client.makeJoinToken(tokenOptions)
    return { json: token, text: formatJoinCommands(token.command) }
  }
  const { items } = await client.listMachines({})
  if (verb === 'list')
    return { json: items, text: items.map(formatMachineRow).join('\n') || 'no machine has joined yet' }
  const { id: machineId, name } = findMachineByName(items, which)
  if (verb === 'revoke') return { json: await client.revokeMachine({ machineId }), text: `${name} is revoked` }
  if (verb === 'update') {
    const json = await client.updateMachine({ machineId, version })
    return { json, text: `${name} has installed it, and restarts if it ran another version` }
  }
  const status = ({ approve: 'active', free: 'active', cordon: 'cordoned', drain: 'draining' } as const)[verb]
  return { json: await client.changeMachine({ machineId, status }), text: `${name} is ${status}` }
}

/** The same command for every way in which ralph can be on the machine. */
function formatJoinCommands(command: string): string {
  const run = command.replace(/^ralph /, '')
  return [
    'Run one of these on the machine within 15 minutes; it joins and runs the agents-server:',
    '',
    `  ralph ${run} --run`,
    '',
    'in a checkout (npm ci && npm run build):',
    '',
    `  node bin/cli/main.cjs ${run} --run`,
    '',
    'with the image (docker build -t ralph-mode .):',
    '',
    `  docker run -d --restart unless-stopped --security-opt seccomp=unconfined -v ralph-machine:/data ralph-mode ${run} --run --if-needed`,
    '',
  ].join('\n')
}

function findMachineByName(machines: readonly Machine[], which: string | undefined): Machine {
  if (which === undefined) throw new RalphError('USAGE', 'machine: missing name or id', { hint: 'ralph machine list' })
  const matching = machines.filter(({ id, name }) => id === which || name === which)
  const [only] = matching
  if (only && matching.length === 1) return only
  const why =
    matching.length === 0 ? `unknown machine "${which}"` : `several machines have the name "${which}"; use the id`
  throw new RalphError('NO_MACHINE', why, { hint: 'ralph machine list' })
}

function formatMachineRow({
  id,
  name,
  status,
  local,
  reachable,
  lastSeenAt,
  running,
  slots,
  alarm,
  version,
}: Machine): string {
  const place = local ? 'this computer' : id
  const seen = reachable
    ? 'connected'
    : `offline${lastSeenAt === undefined ? '' : ` since ${new Date(lastSeenAt).toISOString()}`}`
  return [
    name,
    status,
    seen,
    `${running} of ${slots} running`,
    place,
    ...(version === undefined ? [] : [`ralph ${version}`]),
    ...(alarm === undefined ? [] : [`ALARM: ${alarm}`]),
  ].join('  ')
}
