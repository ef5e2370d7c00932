import type { Client } from '../../client/client.ts'
import { errorMessage, RalphError } from '../../contract/errors.ts'
import type { Deployment } from '../../contract/fleet/operation-routes.ts'
import { readServerCertificate } from '../../platform/net/trust.ts'
import { formatBytes, pluralize } from '../../words/counts.ts'
import { formatAge, formatHumanDuration } from '../../words/durations.ts'

/** One line about a deployment. `hint` says what to do if it is not ok. */
export type BackendObservation = {
  readonly name: string
  readonly ok: boolean
  readonly text: string
  readonly hint?: string | undefined
}

export type BackendUnderTest = {
  readonly url: URL
  readonly fetch: typeof fetch
  /** Absent without a token: only what everybody may see is checked. */
  readonly client: Client | undefined
  readonly version: string
  readonly now: () => number
}

/** Checks a deployment from outside: address, certificate, clock, database, migrations, engine, machines, disk. */
export async function examineBackend(test: BackendUnderTest): Promise<BackendObservation[]> {
  const address = await examineAddress(test)
  if (!address.ok) return [address]
  const certificate = test.url.protocol === 'https:' ? [await examineCertificate(test)] : [plainHttp(test.url)]
  const ready = await examineReadiness(test)
  if (!test.client) {
    const text = 'not checked: database, engine, machines'
    return [
      address,
      ...certificate,
      ready,
      { name: 'token', ok: false, text, hint: 'set RALPH_TOKEN to a token of an admin' },
    ]
  }
  try {
    const state = await test.client.readDeployment({})
    return [address, ...certificate, ready, ...examineState(state, test)]
  } catch (error) {
    const { code, hint } = error instanceof RalphError ? error : { code: '', hint: undefined }
    const name = code === 'DATABASE_UNAVAILABLE' ? 'database' : 'token'
    return [address, ...certificate, ready, { name, ok: false, text: errorMessage(error), hint }]
  }
}

async function examineAddress({ url, fetch: send }: BackendUnderTest): Promise<BackendObservation> {
  try {
    const { status } = await send(new URL('/healthz', url))
    const ok = status === 200
    const hint = 'is this the address of `ralph serve`, and does a proxy pass on the Host header?'
    return {
      name: 'address',
      ok,
      text: ok ? url.origin : `${url.origin} answered ${status}`,
      hint: ok ? undefined : hint,
    }
  } catch (error) {
    const hint = error instanceof RalphError ? error.hint : undefined
    return { name: 'address', ok: false, text: errorMessage(error), hint }
  }
}

const plainHttp = ({ hostname }: URL): BackendObservation => {
  const ok = ['localhost', '127.0.0.1', '[::1]'].includes(hostname)
  const text = ok ? 'none: this computer only' : 'none: everything is readable on the way'
  return { name: 'TLS', ok, text, hint: ok ? undefined : 'use --tls-cert and --tls-key, or a proxy with TLS' }
}

const soonMs = 14 * 86_400_000

async function examineCertificate({ url, now }: BackendUnderTest): Promise<BackendObservation> {
  const { valid_to: end, protocol } = await readServerCertificate(url)
  const left = Date.parse(end) - now()
  const text = `trusted, ${protocol ?? 'unknown version'}, valid until ${new Date(end).toISOString().slice(0, 10)}`
  return { name: 'TLS', ok: left > soonMs, text, hint: left > soonMs ? undefined : 'renew the certificate soon' }
}

async function examineReadiness({ url, fetch: send }: BackendUnderTest): Promise<BackendObservation> {
  const { ok } = await send(new URL('/readyz', url))
  const hint = 'look at the database and at the log of the backend'
  return {
    name: 'ready',
    ok,
    text: ok ? 'the database answers' : 'the database does not answer',
    hint: ok ? undefined : hint,
  }
}

const maxSkewMs = 5000
const formatSkew = (ms: number): string => `${formatHumanDuration(Math.abs(ms))} ${ms < 0 ? 'behind' : 'ahead of'}`
const slowMs = 100
const lowDiskBytes = 2_000_000_000
const oldPromptSeconds = 1800
const lateSeconds = 300

const observe = (name: string, ok: boolean, text: string, hint: string): BackendObservation =>
  ok ? { name, ok, text } : { name, ok, text, hint }

function examineState(state: Deployment, { now, version }: BackendUnderTest): BackendObservation[] {
  const skew = state.now - now()
  const versions = `backend ${state.version}, this ralph ${version}`
  const clock = `backend ${formatSkew(skew)} this computer`
  return [
    observe('version', state.version === version, versions, 'update the backend first, then its machines'),
    observe('clock', Math.abs(skew) < maxSkewMs, clock, 'synchronise the clocks (NTP)'),
    ...examineDatabase(state),
    ...examineWork(state),
  ]
}

function examineDatabase({ database }: Deployment): BackendObservation[] {
  const { kind, serverVersion, sizeBytes, latencyMs, clockSkewMs, readOnly, writeProblem, migrations, diskFreeBytes } =
    database
  const { applied, known, last } = migrations
  const isQuick = latencyMs < slowMs && Math.abs(clockSkewMs) < maxSkewMs
  const about = `${kind} ${serverVersion}, ${formatBytes(sizeBytes)}, answers in ${Math.round(latencyMs)} ms, clock ${formatSkew(clockSkewMs)} the backend`
  const rights = writeProblem?.text ?? (readOnly ? 'the database is read-only' : 'may write')
  const rightsHint = writeProblem?.hint ?? 'name the primary server in DATABASE_URL, not a replica'
  const free = `${formatBytes(diskFreeBytes ?? 0)} free for the database`
  return [
    observe('database', isQuick, about, 'put the database near the backend, and synchronise its clock'),
    observe('rights', !readOnly && !writeProblem, rights, rightsHint),
    observe('migrations', applied >= known, `${applied} of ${known} applied (${last})`, 'start this version once'),
    ...(diskFreeBytes === undefined
      ? []
      : [observe('disk', diskFreeBytes > lowDiskBytes, free, 'free disk space, or move the data folder')]),
  ]
}

function examineWork({ engine, machines, prompts }: Deployment): BackendObservation[] {
  const { connected, offline, pending } = machines
  const oldest = formatAge(prompts.oldestQueuedSeconds * 1000)
  const tasks = `${pluralize(engine.replicas, 'replica')}, ${pluralize(engine.waiting, 'task')} waiting`
  const lines = `${connected} connected, ${offline} offline, ${pending} to approve`
  const queue = `${prompts.running} running, ${prompts.queued} queued, the oldest for ${oldest}`
  const isPrompt = prompts.oldestQueuedSeconds < oldPromptSeconds
  return [
    observe('engine', engine.oldestDueSeconds < lateSeconds, tasks, 'tasks are late: look at the log of the backends'),
    observe('machines', offline === 0 && connected > 0, lines, 'ralph machine list; ralph machine token'),
    observe('prompts', isPrompt, queue, 'add machines or slots, or free a drained machine'),
  ]
}
