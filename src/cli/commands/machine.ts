import type { Client } from '../../client/client.ts'
import { RalphError } from '../../contract/errors.ts'
import type { Machine } from '../../contract/fleet/machine.ts'
import { command } from '../io/command.ts'
import { clientOf } from '../serve/served.ts'

const verbs = ['token', 'list', 'approve', 'cordon', 'drain', 'free', 'update', 'revoke'] as const
type Verb = (typeof verbs)[number]

export const machine = command({
  name: 'machine',
  summary: 'Let machines join the backend, and say what they may do',
  arguments: [`<${verbs.join('|')}>`, '[machine]'],
  options: {
    name: { type: 'string', value: 'NAME', description: 'token: how the machine will be called' },
    labels: { type: 'string', value: 'A,B', description: 'token: labels of the machine' },
    approve: { type: 'boolean', description: 'token: an admin has to say yes before the machine is let in' },
    version: { type: 'string', value: 'X.Y.Z', description: 'update: which one (default: that of the backend)' },
    data: { type: 'string', value: 'DIR', description: 'data folder of the backend (default ~/.ralph/backend)' },
    json: { type: 'boolean', description: 'print JSON' },
  },
  details: `token    prints the command that makes one machine join, within 15 minutes
list     all machines, and when each was last heard from
approve  lets a machine in that waits for it
cordon   nothing new begins there; drain: and what runs is finished; free: takes both back
update   installs another version of ralph there, if the machine lets you (agents-server join --update); agents go on meanwhile
revoke   its certificate is worth nothing any more

A machine is named by its name or its id. The backend is the one that runs on this computer, or the one of RALPH_URL and
RALPH_TOKEN.`,
  examples: ['ralph machine token', 'ralph machine list', 'ralph machine drain build-1'],
  async run({ values, positionals: [given = '', which] }, io) {
    const verb = verbs.find((name) => name === given)
    if (!verb) throw new RalphError('USAGE', `machine: "${given}" is unknown`, { hint: `one of ${verbs.join(', ')}` })
    const client = clientOf(values.data, io)
    const labels = values.labels?.split(',').map((label) => label.trim())
    const wanted = { name: values.name, labels, approve: values.approve }
    const done = await carryOut(verb, which, { client, wanted, version: values.version })
    io.print(values.json === true ? JSON.stringify(done.json) : done.text)
    return 0
  },
})

type Asked = {
  readonly client: Client
  readonly version: string | undefined
  readonly wanted: {
    readonly name: string | undefined
    readonly labels: string[] | undefined
    readonly approve: boolean | undefined
  }
}

type Done = { readonly json: unknown; readonly text: string }

async function carryOut(verb: Verb, which: string | undefined, { client, wanted, version }: Asked): Promise<Done> {
  if (verb === 'token') {
    const token = await client.makeJoinToken(wanted)
    return { json: token, text: `On the machine, within 15 minutes:\n\n  ${token.command}\n` }
  }
  const { items } = await client.listMachines({})
  if (verb === 'list') return { json: items, text: items.map(row).join('\n') || 'no machine has joined yet' }
  const { id: machineId, name } = found(items, which)
  if (verb === 'revoke')
    return { json: await client.revokeMachine({ machineId }), text: `${name} is not let in any more` }
  if (verb === 'update') {
    const json = await client.updateMachine({ machineId, version })
    return { json, text: `${name} has it installed, and starts again if it ran another one` }
  }
  const status = ({ approve: 'active', free: 'active', cordon: 'cordoned', drain: 'draining' } as const)[verb]
  return { json: await client.changeMachine({ machineId, status }), text: `${name} is ${status}` }
}

function found(machines: readonly Machine[], which: string | undefined): Machine {
  if (which === undefined) throw new RalphError('USAGE', 'machine: which one?', { hint: 'ralph machine list' })
  const meant = machines.filter(({ id, name }) => id === which || name === which)
  const [only] = meant
  if (only && meant.length === 1) return only
  const why =
    meant.length === 0 ? `there is no machine "${which}"` : `several machines are called "${which}"; use the id`
  throw new RalphError('NO_MACHINE', why, { hint: 'ralph machine list' })
}

function row({ id, name, status, local, reachable, lastSeenAt, running, slots, alarm, version }: Machine): string {
  const place = local ? 'this computer' : id
  const seen = reachable
    ? 'connected'
    : `away${lastSeenAt === undefined ? '' : ` since ${new Date(lastSeenAt).toISOString()}`}`
  return [
    name,
    status,
    seen,
    `${running} of ${slots} at work`,
    place,
    ...(version === undefined ? [] : [`ralph ${version}`]),
    ...(alarm === undefined ? [] : [`ALARM: ${alarm}`]),
  ].join('  ')
}
