import { randomUUID } from 'node:crypto'
import { connect } from 'node:tls'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createMemoryMachineStore } from '../../../test/fleet/machine-memory-store.ts'
import {
  backendName,
  createAuthority,
  createKeyAndRequest,
  openAuthority,
  type Authority,
  type Credentials,
} from '../../connection/authority.ts'
import { sendHello, type Hello } from '../../connection/greeting.ts'
import { parseJoinToken } from '../../connection/join-token.ts'
import { requestJoin } from '../../connection/join.ts'
import { openLine } from '../../connection/line.ts'
import { decodeReportReply, decodeRequest, encodeReport, encodeReply } from '../../connection/message.ts'
import { createSeal } from '../../connection/seal.ts'
import { RalphError } from '../../contract/errors.ts'
import type { ReceivedMessage } from '../../connection/session.ts'
import { dialBackend } from '../../connection/web-socket.ts'
import { issueJoinToken } from './admission.ts'
import type { BackendLog } from './connection.ts'
import { listenForMachines, type MachineListener } from './listener.ts'
import { openMachineLines, type MachineLines } from './machine-lines.ts'

const host = '127.0.0.1'
const hour = 3_600_000
const memory = createMemoryMachineStore()
const warnings: string[] = []
const errors: unknown[] = []
const log: BackendLog = (_level, text, about) => void warnings.push(`${text}: ${JSON.stringify(about)}`)
const createAuthorities = async () => openAuthority(await createAuthority(Date.now()))

let authority: Authority
let machines: MachineLines
let listener: MachineListener
beforeAll(async () => {
  authority = await createAuthorities()
  const handlers = {
    handleMessage: memory.take,
    reconcileInventory: async () => ({ success: true as const, stored: {} }),
    saveInventory: async () => ({ success: true as const, stored: {} }),
    saveEvents: async () => ({ success: true as const, stored: 0 }),
    onReachable: () => {},
    onSeen: () => {},
  }
  const parts = { store: memory.store, authority, now: Date.now, log }
  machines = openMachineLines({ ...parts, handlers, version: '0.1.0', lookEveryMs: 50 })
  listener = await listenForMachines({ ...parts, machines, host, port: 0, logError: (error) => errors.push(error) })
})
afterAll(async () => {
  machines.close()
  await listener.close()
})

const credentialsFor = async (machineId: string, by: Authority = authority, at = Date.now()): Promise<Credentials> => {
  const { key, csr } = await createKeyAndRequest('machine')
  const { certificate } = await by.issueForMachine(csr, machineId, at)
  return { certificate, key }
}

const createHello = (machineId: string, with_: Partial<Hello> = {}): Hello => ({
  machineId,
  speaks: { oldest: 1, newest: 1 },
  version: '0.1.0',
  bootEpoch: 1,
  bootId: randomUUID(),
  at: Date.now(),
  ...with_,
})

/** The result of an attempt to connect with these credentials. */
async function tryToConnect(credentials: Credentials, hello: Hello): Promise<string> {
  try {
    const transport = await dialBackend({ host, port: listener.port, credentials, authorities: authority.certificate })
    await sendHello(transport, hello)
    transport.close('done')
    return 'accepted'
  } catch (error) {
    return error instanceof Error ? error.message : ''
  }
}

const createInventory = {
  version: '0.1.0',
  platform: 'linux',
  bootEpoch: 1,
  at: Date.now(),
  name: 'm',
  labels: [],
  slots: 1,
  roots: [],
  agents: [],
  waiting: 0,
}

/** The machine's end of an admitted line. */
async function connectMachine(
  machineId: string,
  with_: Partial<Hello> = {},
  answer?: (request: ReceivedMessage) => Promise<unknown>,
) {
  const credentials = await credentialsFor(machineId)
  const transport = await dialBackend({ host, port: listener.port, credentials, authorities: authority.certificate })
  const { epoch } = await sendHello(transport, createHello(machineId, with_))
  const received: ReceivedMessage[] = []
  const line = openLine({
    transport,
    epoch,
    seal: createSeal(transport.secret, 'machine'),
    mailbox: { pending: async () => [], acked: async () => {}, store: async () => 'new' },
    onReceived: (message) => void received.push(message),
    answer: answer ?? (async () => ({})),
  })
  await line.call('inventory', encodeReport('inventory', { inventory: createInventory }), 5000)
  return { line, received }
}

describe('the port for machines', () => {
  it('accepts a machine with a certificate of its authority', async () => {
    const id = memory.add('good')
    expect(await tryToConnect(await credentialsFor(id), createHello(id))).toBe('accepted')
  })

  it('refuses foreign, self-signed and expired certificates, and the server certificate of another backend', async () => {
    const id = memory.add('bad')
    const foreign = await createAuthorities()
    const selfSigned = await createAuthority(Date.now())
    const refused = [
      await tryToConnect(await credentialsFor(id, foreign), createHello(id)),
      await tryToConnect(selfSigned, createHello(id)),
      await tryToConnect(await credentialsFor(id, authority, Date.now() - 25 * hour), createHello(id)),
      await tryToConnect(await authority.issueForBackend(Date.now()), createHello(id)),
      await tryToConnect(await credentialsFor(id, authority, Date.now() + hour), createHello(id)),
    ]
    const at = `the backend at ${host}:${listener.port} refuses the certificate of this machine`
    expect(refused).toEqual([
      `${at} (UNABLE_TO_VERIFY_LEAF_SIGNATURE)`,
      `${at} (INVALID_PURPOSE)`,
      expect.stringMatching(/^the certificate of this machine expired on \d{4}-\d\d-\d\d$/),
      `${at} (INVALID_PURPOSE)`,
      expect.stringMatching(/^the certificate of this machine is valid only from .*Z$/),
    ])
    // Once per address and reason: a refused machine tries again and again.
    expect(warnings.slice(-4)).toEqual([
      expect.stringContaining('UNABLE_TO_VERIFY_LEAF_SIGNATURE'),
      expect.stringContaining('INVALID_PURPOSE'),
      expect.stringMatching(/from 127\.0\.0\.1: its certificate has expired.*join again.*CERT_HAS_EXPIRED/),
      expect.stringMatching(/clock.*CERT_NOT_YET_VALID/),
    ])
  })

  it('refuses a connection without a certificate, TLS 1.2, and an unknown path', async () => {
    const tried = (options: object) =>
      new Promise<string>((resolve) => {
        const socket = connect({
          host,
          port: listener.port,
          ca: authority.certificate,
          servername: backendName,
          ...options,
        })
        socket.on('error', (error) => resolve(error.message))
        socket.on('data', (data) => resolve(data.toString().split('\r\n')[0] ?? ''))
        socket.write('GET /line HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n')
      })
    expect(await tried({})).toBe('HTTP/1.1 401 Unauthorized')
    expect(await tried({ maxVersion: 'TLSv1.2', minVersion: 'TLSv1.2' })).toContain('protocol version')
    expect(await tried({ servername: 'elsewhere.example' })).toContain("does not match certificate's altnames")
  })

  it('refuses another name, an unknown or revoked machine, one that awaits approval, and an unknown version', async () => {
    const [id, other] = [memory.add('a'), memory.add('b')]
    const credentials = await credentialsFor(id)
    const stranger = randomUUID()
    const revoked = memory.add('r', 'revoked')
    const pending = memory.add('p', 'pending')
    expect([
      await tryToConnect(credentials, createHello(other)),
      await tryToConnect(await credentialsFor(stranger), createHello(stranger)),
      await tryToConnect(await credentialsFor(revoked), createHello(revoked)),
      await tryToConnect(await credentialsFor(pending), createHello(pending)),
      await tryToConnect(credentials, createHello(id, { speaks: { oldest: 7, newest: 9 }, version: '9.0.0' })),
    ]).toEqual([
      'WRONG_NAME: the certificate belongs to another machine',
      'REVOKED: this machine was revoked',
      'REVOKED: this machine was revoked',
      'JOIN_PENDING: an admin has not approved this machine yet',
      'VERSION_UNKNOWN: ralph 0.1.0 is not compatible with ralph 9.0.0; update one of them',
    ])
  })

  it('logs which machine it refused and why, once', async () => {
    const id = memory.add('build-9')
    const credentials = await credentialsFor(id)
    const before = warnings.length
    for (let n = 0; n < 3; n++)
      await tryToConnect(credentials, createHello(id, { speaks: { oldest: 7, newest: 9 }, version: '9.0.0' }))
    expect(warnings.slice(before)).toEqual([
      expect.stringMatching(
        /^refused machine build-9: its version of ralph .*update the older one \(VERSION_UNKNOWN\)/,
      ),
    ])
  })

  it('says to a machine that the database is away, which is no fault of the machine', async () => {
    const id = memory.add('waits')
    const { find } = memory.store
    const away = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })
    Object.assign(memory.store, { find: () => Promise.reject(away) })
    expect(await tryToConnect(await credentialsFor(id), createHello(id))).toMatch(/^DATABASE_UNAVAILABLE: .*retries$/)
    expect([errors, warnings.filter((text) => text.includes('waits'))]).toEqual([[away], []])
    Object.assign(memory.store, { find })
    expect(await tryToConnect(await credentialsFor(id), createHello(id))).toBe('accepted')
  })

  it('speaks its own version with a newer machine that still supports it, and ignores unknown messages', async () => {
    const id = memory.add('newer')
    const { line, received } = await connectMachine(
      id,
      { speaks: { oldest: 1, newest: 2 }, version: '0.2.0' },
      async () => {
        throw new RalphError('VERSION_UNKNOWN', 'no longer')
      },
    )
    const wire: { inventory: object } = JSON.parse(
      JSON.stringify(encodeReport('inventory', { inventory: createInventory })),
    )
    const more = { inventory: { ...wire.inventory, moods: ['fine'] }, since: 'the next version' }
    expect(await line.call('inventory', more, 5000)).toMatchObject({ success: true })
    await expect(line.call('weather', {}, 5000)).rejects.toMatchObject({ code: 'VERSION_UNKNOWN' })
    const reply = machines.call(id, 'claude-state', { agentId: randomUUID() })
    await expect(reply).rejects.toMatchObject({ code: 'VERSION_UNKNOWN' })
    expect(received).toEqual([])
    line.close('done')
  })

  it('is refused by a machine that trusts another authority', async () => {
    const id = memory.add('c')
    const { certificate } = await createAuthorities()
    const tried = dialBackend({
      host,
      port: listener.port,
      credentials: await credentialsFor(id),
      authorities: certificate,
    })
    await expect(tried).rejects.toMatchObject({
      message: expect.stringContaining('is not from the backend that this machine joined'),
      hint: expect.stringContaining('join again'),
    })
  })
})

describe('a line to a machine', () => {
  it('carries durable messages, calls and failures of calls', async () => {
    const id = memory.add('talks')
    const agentId = randomUUID()
    const { line, received } = await connectMachine(id, {}, async ({ type, body }) => {
      if (type !== 'claude-state') throw new Error('a secret that must not travel')
      decodeRequest('claude-state', body)
      return encodeReply('claude-state', { success: true, isReady: true, hasBlockingAutomation: false })
    })
    memory.send(id, { id: 'one', type: 'reset', body: { agentId } })
    machines.wake(id)
    await expect.poll(() => received.map((message) => message.id)).toEqual(['one'])
    expect(await machines.call(id, 'claude-state', { agentId })).toMatchObject({ success: true, isReady: true })
    const failing = machines.call(id, 'detect-checks', { agentId })
    await expect(failing).rejects.toThrow('internal error on the other side; see its log')
    line.close('done')
    await expect.poll(() => machines.isReachable(id)).toBe(false)
    await expect(machines.call(id, 'claude-state', { agentId })).rejects.toMatchObject({ code: 'MACHINE_UNREACHABLE' })
  })

  it('refuses and counts invalid frames, and continues; a frame that is too long ends only its own connection', async () => {
    const [id, other] = [memory.add('hostile'), memory.add('neighbour')]
    const neighbour = await connectMachine(other)
    const credentials = await credentialsFor(id)
    const transport = await dialBackend({ host, port: listener.port, credentials, authorities: authority.certificate })
    const closed = new Promise<string>((resolve) => transport.onClose(resolve))
    await sendHello(transport, createHello(id))
    const before = machines.counts().refusedFrames
    const forged = createSeal(Buffer.alloc(32), 'machine').close({
      v: 1,
      epoch: 1,
      seq: 1,
      ack: 0,
      id: 'x',
      type: 'x',
      body: 1,
    })
    for (const text of ['', 'nonsense', '{"v":1}', forged, '\u0000'.repeat(1000)]) transport.send(text)
    await expect.poll(() => machines.counts().refusedFrames).toBe(before + 5)
    transport.send('x'.repeat(2 * 1024 * 1024))
    expect(await closed).toContain('closed')
    expect(await neighbour.line.answers(5000)).toBe(true)
    neighbour.line.close('done')
  })

  it('renews a certificate for a new key, but only for the machine that asks', async () => {
    const id = memory.add('renews')
    const { line } = await connectMachine(id, { bootEpoch: 1 })
    const { key, csr } = await createKeyAndRequest('another name')
    const reply = await line.call('renew', encodeReport('renew', { csr }), 5000)
    await expect(line.call('renew', encodeReport('renew', { csr: 'x' }), 5000)).rejects.toThrow('certificate request')
    const { certificate, authorities } = decodeReportReply('renew', reply)
    expect(authorities).toBe(authority.certificate)
    expect(await tryToConnect({ certificate, key }, createHello(id, { bootEpoch: 2 }))).toBe('accepted')
    line.close('done')
  })

  it('accepts a machine whose clock is off, and raises an alarm', async () => {
    const id = memory.add('skewed')
    expect(await tryToConnect(await credentialsFor(id), createHello(id, { at: Date.now() - hour }))).toBe('accepted')
    expect(warnings.findLast((text) => text.includes(id) && text.includes('clockSkewMs'))).toMatch(
      /"clockSkewMs":-36\d{5}/,
    )
    expect(memory.machines.get(id)?.alarm).toMatch(/^its clock is off by 36\d\d s$/)
  })

  it('closes soon after a revocation', async () => {
    const id = memory.add('revoked later')
    const { line } = await connectMachine(id)
    await memory.store.setStatus(id, 'revoked')
    expect(await line.closed).toBe('this connection was superseded or revoked')
  })

  it('belongs to the newer process of a machine, with an alarm if the older one is still connected', async () => {
    const id = memory.add('cloned')
    const first = await connectMachine(id, { bootEpoch: 1 })
    const second = await connectMachine(id, { bootEpoch: 2 })
    expect(await first.line.closed).toBe('a newer connection has taken over')
    expect(memory.machines.get(id)?.alarm).toContain('two agents-servers with the same key')
    const copy = await tryToConnect(await credentialsFor(id), createHello(id, { bootEpoch: 2 }))
    expect(copy).toMatch(/^FENCED/)
    expect(await second.line.answers(2000)).toBe(true)
    second.line.close('done')
  })

  it('is replaced without an alarm when the same process reconnects', async () => {
    const id = memory.add('again')
    const bootId = randomUUID()
    const first = await connectMachine(id, { bootId })
    const second = await connectMachine(id, { bootId })
    expect(await first.line.closed).toBe('a newer connection has taken over')
    expect(memory.machines.get(id)?.alarm).toBeUndefined()
    second.line.close('done')
  })
})

describe('joining', () => {
  const about = async () => ({ name: 'new', labels: [], version: '0.1.0', ...(await createKeyAndRequest('new')) })
  const token = async (approve = false) => {
    const made = await issueJoinToken({ approve }, { store: memory.store, authority, now: Date.now, log })
    return parseJoinToken(made.token)
  }
  const asking = async (
    joinToken: Awaited<ReturnType<typeof token>>,
    { key: _key, ...mine }: Awaited<ReturnType<typeof about>>,
  ) => (await requestJoin({ host, port: listener.port }, joinToken, mine)).answer

  it('gives a machine with a new token a certificate that it can connect with', async () => {
    const mine = await about()
    const answer = await asking(await token(), mine)
    if (!('machineId' in answer)) throw new Error(JSON.stringify(answer))
    const { machineId, certificate } = answer
    expect(await tryToConnect({ certificate, key: mine.key }, createHello(machineId))).toBe('accepted')
  })

  it('allows a retry with the same key only', async () => {
    const [joinToken, mine] = [await token(), await about()]
    const first = await asking(joinToken, mine)
    expect(await asking(joinToken, mine)).toMatchObject({ machineId: 'machineId' in first ? first.machineId : '' })
    expect(await asking(joinToken, await about())).toEqual({ refused: expect.stringContaining('token') })
  })

  it('waits for an admin if the token requires approval', async () => {
    const [joinToken, mine] = [await token(true), await about()]
    expect(await asking(joinToken, mine)).toEqual({ pending: true })
    const [waiting] = [...memory.machines.values()].filter(({ status, name }) => status === 'pending' && name === 'new')
    await memory.store.setStatus(waiting?.id ?? '', 'active')
    expect(await asking(joinToken, mine)).toMatchObject({ machineId: waiting?.id })
  })

  it('sends nothing to a backend whose authority differs from the token', async () => {
    const joinToken = { ...(await token()), pin: 'A'.repeat(43) }
    await expect(asking(joinToken, await about())).rejects.toMatchObject({ code: 'JOIN_REFUSED' })
  })

  it('refuses wrong secrets, expired tokens and malformed requests', async () => {
    const joinToken = await token()
    expect(await asking({ ...joinToken, secret: 'B'.repeat(43) }, await about())).toEqual({
      refused: expect.any(String),
    })
    const broken = { ...(await about()), csr: 'nonsense' }
    expect(await asking(joinToken, broken)).toEqual({ refused: expect.any(String) })
    const late = createMemoryMachineStore(() => Date.now() + hour)
    const parts = { store: late.store, authority, now: Date.now, log }
    const old = parseJoinToken((await issueJoinToken({}, parts)).token)
    const use = { id: old.id, hash: '', keyPin: '', name: '', labels: [], version: '' }
    expect(await late.store.redeemToken(use)).toEqual({ refused: 'unknown' })
  })
})
