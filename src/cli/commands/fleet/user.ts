import { RalphError } from '../../../contract/errors.ts'
import { defineCommand } from '../../io/command.ts'
import { caOption } from '../../serve/ca-option.ts'
import { createBackendClient } from '../../serve/running-backend.ts'

export const user = defineCommand({
  name: 'user',
  summary: 'Invite users, and list them',
  arguments: ['<invite|list>', '[name]'],
  options: {
    admin: { type: 'boolean', description: 'invite: the new user becomes an admin (default: a member)' },
    data: { type: 'string', value: 'DIR', description: 'data folder of the backend (default ~/.ralph/backend)' },
    ca: caOption,
    json: { type: 'boolean', description: 'print JSON' },
  },
  details: `invite  print an address that signs the user in, once and within three days. The session lasts for a week, 12 hours if it is
        not used; with a passkey (Settings) the user signs in again without you. For more than a few people use an identity provider (RALPH_OIDC_ISSUER)
list    list all users

Others reach the page only if \`ralph serve\` listens for them: --host, --invitations, and --tls-cert or --behind-proxy.`,
  examples: ['ralph user invite ada', 'ralph user invite grace --admin', 'ralph user list'],
  async run({ values, positionals: [verb = '', name] }, io) {
    const client = createBackendClient(values, io)
    const say = (json: unknown, text: string) => io.print(values.json === true ? JSON.stringify(json) : text)
    if (verb === 'list') {
      const { items } = await client.listUsers({})
      say(
        items,
        items.map((one) => `${one.name}  ${one.role}${one.disabledAt === undefined ? '' : '  disabled'}`).join('\n'),
      )
      return 0
    }
    if (verb !== 'invite')
      throw new RalphError('USAGE', `user: unknown command "${verb}"`, { hint: 'use one of invite, list' })
    if (name === undefined)
      throw new RalphError('USAGE', 'user invite: missing name', { hint: 'ralph user invite ada' })
    const made = await client.inviteUser({ name, ...(values.admin === true && { role: 'admin' as const }) })
    say(made, `Send this address to ${name}; it works once, within three days:\n\n  ${made.address}\n`)
    return 0
  },
})
