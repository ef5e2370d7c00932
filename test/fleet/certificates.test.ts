import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:tls'
import { expect, it, onTestFinished } from 'vitest'
import { readIdentity, saveIdentity, toCredentials } from '../../src/agents-server/machine-folder.ts'
import { startRemoteAgentsServer } from '../../src/agents-server/remote-agents-server.ts'
import { listenForMachines } from '../../src/backend/machines/listener.ts'
import { backendName, createKeyAndRequest } from '../../src/connection/authority.ts'
import { createTestFolder } from '../support/folder.ts'
import { createTestMachineBackend } from './machine-backend.ts'
import { timeoutOptions } from './real-machines.ts'

const hourMs = 3_600_000
const host = '127.0.0.1'

it('renews the certificates of a machine and of the port, while the line between them stays open', async () => {
  const { base, memory, machines } = await createTestMachineBackend()
  const listener = await listenForMachines({ ...base, machines, host, port: 0, logError: () => {}, reissueMs: 200 })
  onTestFinished(async () => (machines.close(), listener.close()))
  const home = createTestFolder()
  const machineId = memory.add('build-1')
  const { key, csr } = await createKeyAndRequest('build-1')
  // Two thirds of its 24 hours are over.
  const { certificate } = await base.authority.issueForMachine(csr, machineId, Date.now() - 17 * hourMs)
  const settings = { name: 'build-1', labels: [], roots: [home], slots: 1, notes: home }
  const authorities = base.authority.certificate
  await saveIdentity(home, {
    machineId,
    backend: { host, port: listener.port },
    key,
    certificate,
    authorities,
    settings,
  })
  const log: string[] = []
  const readSerial = async () => {
    const identity = await readIdentity(home)
    if (!identity) throw new Error('the machine has lost its identity')
    const { certificate: cert, key: own } = toCredentials(identity)
    const socket = connect({ host, port: listener.port, servername: backendName, ca: authorities, cert, key: own })
    await once(socket, 'secureConnect')
    const { serialNumber } = socket.getPeerCertificate()
    socket.destroy()
    return serialNumber
  }
  const firstSerial = await readSerial()
  const server = await startRemoteAgentsServer({
    home,
    env: process.env,
    version: '0.1.0',
    log: (text) => void log.push(text),
  })
  onTestFinished(server.close)

  const renewed = async () => (await readIdentity(home))?.certificate ?? ''
  await expect.poll(async () => (await renewed()) === certificate, timeoutOptions).toBe(false)
  expect(Date.parse(new X509Certificate(await renewed()).validTo)).toBeGreaterThan(Date.now() + 23 * hourMs)
  await expect.poll(async () => (await readSerial()) === firstSerial, timeoutOptions).toBe(false)
  expect(machines.isReachable(machineId)).toBe(true)
  expect(log.filter((text) => text === 'connected' || text === 'line closed')).toEqual(['connected'])

  // The next line uses the new ones.
  machines.drop(machineId, 'test')
  await expect.poll(() => log.filter((text) => text === 'connected').length, timeoutOptions).toBe(2)
})
