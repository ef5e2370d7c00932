import { isIP } from 'node:net'
import { parseHostRule } from '../../../contract/cell.ts'
import { RalphError } from '../../../contract/errors.ts'

/** A host that programs may reach. */
export type Rule = {
  /** A name, `*.name` for every name below it, or an address that the user configured himself. */
  readonly host: string
  /** Absent: 80 and 443. */
  readonly port?: number | undefined
  /** Whether it may be in a private network or on this machine. */
  readonly private: boolean
}

export type Decision =
  | { readonly allowed: true; readonly rule: Rule }
  | { readonly allowed: false; readonly reason: string }

/** A host of `network: {allow: […]}`. Throws NETWORK_RULE_INVALID if it is none. */
export function parseRule(text: string, isPrivate: boolean): Rule {
  const rule = parseHostRule(text)
  if (rule === undefined) {
    throw new RalphError('NETWORK_RULE_INVALID', `network: "${text}" is not a host`, {
      hint: 'write a name (example.com), a name with a port (example.com:8443) or *.example.com; no scheme and no path',
    })
  }
  return { ...rule, host: plainHost(rule.host), private: isPrivate }
}

/** The rule for an address that the user configured, e.g. as a base URL; undefined if it is none. */
export function urlRule(text: string): Rule | undefined {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) return undefined
  const { hostname, port, protocol } = new URL(text)
  const host = plainHost(hostname)
  if (host === '') return undefined
  const usual = protocol === 'https:' ? 443 : 80
  return { host, private: true, port: port === '' ? usual : Number(port) }
}

export function decide(rules: readonly Rule[], host: string, port: number): Decision {
  const name = plainHost(host)
  // `*.host` would match `10.0.0.1:22#.host`, of which the user's own proxy may read the beginning only.
  if (isIP(name) === 0 && !/^[\w.-]+$/.test(name)) return { allowed: false, reason: 'not a host name' }
  const rule = rules.find((each) => matches(each, name) && portMatches(each, port))
  if (rule && (!isAddress(name) || rule.host === name)) return { allowed: true, rule }
  if (isAddress(name)) return { allowed: false, reason: 'an address instead of a name' }
  const isOther = rules.some((each) => matches(each, name))
  return { allowed: false, reason: isOther ? `port ${port} is not in the allow-list` : 'not in the allow-list' }
}

/** Also the forms that a resolver takes for an address: 2130706433, 0x7f.1, 127.1. */
export const isAddress = (host: string): boolean => isIP(host) !== 0 || /^[\d.]+$|^0x[\da-f.x]+$/i.test(host)

/** Names of this machine itself. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host.endsWith('.localhost') || host === '::1' || host.startsWith('127.')

/** Lower case, without the last dot and the brackets of IPv6. */
export const plainHost = (host: string): string =>
  host
    .toLowerCase()
    .replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '')

const matches = ({ host }: Rule, name: string): boolean =>
  host.startsWith('*.') ? name.endsWith(host.slice(1)) && name.length > host.length - 1 : host === name

const portMatches = (rule: Rule, port: number): boolean =>
  rule.port === undefined ? port === 80 || port === 443 : port === rule.port
