import type { AuditEntry } from '../../../contract/fleet/user.ts'

const pastTenses: Readonly<Record<string, string>> = {
  give: 'gave',
  grant: 'granted',
  make: 'created',
  reset: 'reset',
  retry: 'retried',
  set: 'set',
  sign: 'signed',
  stop: 'stopped',
  tell: 'messaged',
  withdraw: 'withdrew',
}

const wholeActions: Readonly<Record<string, string>> = {
  joinRefused: 'was refused as a machine',
  signInRefused: 'was refused at sign-in',
}

/** `startRalphMode` as `started Ralph Mode`: routes are named by verb and object. */
export function describeAuditAction(what: string): string {
  const whole = wholeActions[what]
  if (whole !== undefined) return whole
  const [verb = '', ...object] = what
    .replaceAll(/[.-]/g, ' ')
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(' ')
  const past = pastTenses[verb] ?? (verb.endsWith('e') ? `${verb}d` : `${verb}ed`)
  return [past, ...object].join(' ').replace('ralph mode', 'Ralph Mode')
}

/** The name of the object as it was then; its ID in entries of earlier versions. */
export const nameObject = ({ target = '', details }: AuditEntry): string =>
  typeof details?.['name'] === 'string' ? details['name'] : target

export const matchesAudit = ({ who, what, target, details }: AuditEntry, search: string): boolean =>
  [who, what, describeAuditAction(what), target, JSON.stringify(details)]
    .join(' ')
    .toLowerCase()
    .includes(search.trim().toLowerCase())

/** One line per entry. A field that a spreadsheet would run as a formula begins with an apostrophe. */
export function auditToCsv(entries: readonly AuditEntry[]): string {
  const rows = entries.map((entry) => {
    const { at, who, what, target = '', details = {} } = entry
    return [new Date(at).toISOString(), who, what, nameObject(entry), target, JSON.stringify(details)]
  })
  return [['when', 'who', 'what', 'object', 'id', 'details'], ...rows]
    .map((row) => `${row.map(csvField).join(',')}\r\n`)
    .join('')
}

function csvField(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
