import { RalphError } from '../../../contract/errors.ts'
import { formatPeriod } from '../../../contract/time.ts'
import { pluralize } from '../../../words/counts.ts'
import { defineCommand } from '../../io/command.ts'
import type { Io } from '../../io/io.ts'
import { createBackendClient } from '../../serve/running-backend.ts'
import { parseServeSettings, type ServeSettings } from '../../serve/settings.ts'

export const serve = defineCommand({
  name: 'serve',
  summary: 'Run the backend: the page, the API, and agents on this computer',
  options: {
    port: {
      type: 'string',
      value: 'N',
      description: 'port of the page and the API; 0 picks a free port (default 7257)',
    },
    host: { type: 'string', value: 'ADDRESS', description: 'address to listen on (default 127.0.0.1)' },
    data: { type: 'string', value: 'DIR', description: 'data folder (default ~/.ralph/backend)' },
    origin: { type: 'string', value: 'URL', description: 'public address, if it differs (proxy, host name)' },
    'tls-cert': {
      type: 'string',
      value: 'FILE',
      description: 'TLS certificate, required when listening beyond this machine',
    },
    ca: {
      type: 'string',
      value: 'FILE',
      description: 'certificates of private authorities to trust: identity provider, webhooks (default: RALPH_CA)',
    },
    'tls-key': { type: 'string', value: 'FILE', description: 'key of the TLS certificate' },
    'behind-proxy': {
      type: 'boolean',
      description: 'listen without TLS: a proxy or a published container port protects it; requires --origin',
    },
    invitations: {
      type: 'boolean',
      description: 'users sign in with addresses that an admin sends them: ralph user invite',
    },
    'also-host': {
      type: 'string',
      value: 'HOST:PORT,…',
      description: 'further names that programs may call the API with, such as that of a container',
    },
    'machines-address': {
      type: 'string',
      value: 'HOST:PORT',
      description: 'where machines reach the machines port, if it differs (proxy, container)',
    },
    'machines-port': { type: 'string', value: 'N', description: 'accept connections of other machines on this port' },
    'machines-host': {
      type: 'string',
      value: 'ADDRESS',
      description: 'address for machine connections; 0.0.0.0: from everywhere (default: that of --host)',
    },
    'first-admin': {
      type: 'string',
      value: 'EMAIL',
      description: 'this verified address becomes admin when it first signs in; others become members',
    },
    backups: {
      type: 'string',
      value: 'N',
      description: 'daily backups of the embedded database to keep in <data>/backups (default 7; 0: make none)',
    },
    'keep-history': {
      type: 'string',
      value: 'PERIOD',
      description: 'how long events and ended prompts stay, such as 30d; "all" keeps them (default 90d)',
    },
    'dry-run': {
      type: 'boolean',
      description: 'only count what --keep-history would delete; needs a running backend',
    },
    notes: {
      type: 'string',
      value: 'DIR',
      description:
        'folder for the notes of agents on this computer (default: RALPH_NOTES, else ~/.ralph/notes/{agent})',
    },
    shared: { type: 'boolean', description: 'let other users with a grant run agents on this computer, as you' },
    demo: { type: 'boolean', description: 'start a demo sprint: no agent, no key, in ~/ralph-demo' },
    'no-machine': { type: 'boolean', description: 'run no agents on this computer' },
    ticket: { type: 'boolean', description: 'print a new sign-in address for the running backend' },
    json: { type: 'boolean', description: 'print {origin, address} and the log as JSON lines' },
  },
  details: `Without DATABASE_URL, the backend stores everything in an embedded database in the data folder; with it, any number of
backends share a Postgres server. Users sign in with the printed address or with an identity provider (RALPH_OIDC_ISSUER,
RALPH_OIDC_CLIENT_ID, RALPH_OIDC_CLIENT_SECRET, RALPH_OIDC_ALLOW). See docs/guides/fleet.md.`,
  examples: [
    'ralph serve',
    'ralph serve --demo',
    'ralph serve --port 0',
    'ralph serve --machines-port 7258 --machines-host 0.0.0.0',
    'ralph serve --ticket',
    'ralph serve --keep-history 30d --dry-run',
  ],
  async run({ values }, io) {
    if (values.ticket === true) {
      const { address } = await createBackendClient(values, io).makeTicket({})
      io.print(values.json === true ? JSON.stringify({ address }) : address)
      return 0
    }
    const settings = parseServeSettings(values, io)
    if (values['dry-run'] === true) return countHistory(settings, values, io)
    const { runBackend } = await import('../../serve/run-backend.ts')
    const shareMachine = values.shared === true
    const withMachine = values['no-machine'] !== true
    const demo = values.demo === true
    if (demo && !withMachine) {
      throw new RalphError('USAGE', '--demo runs on this computer, and --no-machine runs nothing here', {
        hint: 'give one of the two',
      })
    }
    const options = { withMachine, demo, json: values.json === true }
    return runBackend({ ...settings, shareMachine }, options, io)
  },
})

type DryRunFlags = { readonly data?: string; readonly ca?: string; readonly json?: boolean }

async function countHistory({ historyMs }: ServeSettings, { json, ...flags }: DryRunFlags, io: Io): Promise<number> {
  if (historyMs === 'all') throw new RalphError('USAGE', '--keep-history all deletes nothing')
  const found = await createBackendClient(flags, io).countOldHistory({ keepMs: historyMs })
  const counts = `${pluralize(found.events, 'event')} and ${pluralize(found.prompts, 'ended prompt')}`
  io.print(json === true ? JSON.stringify(found) : `would delete ${counts} older than ${formatPeriod(found.keepMs)}`)
  return 0
}
