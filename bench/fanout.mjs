// One event, many viewers: the time from storing it until the last viewer has it. The real backend with its database, its feed
// and its HTTP server; the viewers are sockets of the same process, so their reading is part of the figure.
// Usage: npm run bench -- fanout [-- --viewers 200] [-- --rounds 60] [-- --json]
import { randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { agents } from '../dist/backend/database/agent.js'
import { events } from '../dist/backend/database/event.js'
import { machines } from '../dist/backend/database/machine.js'
import { users } from '../dist/backend/database/user.js'
import { eventsTopic } from '../dist/backend/feed/event-log.js'
import { createAuthentication } from '../dist/backend/http/identity.js'
import { openBackend } from '../dist/backend/open-backend.js'
import { median, option, printIfMain, row } from './measure.mjs'

export async function measure({ viewers = option('viewers', 200), rounds = option('rounds', 60) } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
  const backend = await startBackend(folder)
  try {
    const agentId = await insertAgent(backend)
    const countFrames = createFrameCounter(viewers)
    const sockets = []
    // Several users: one user would hit the rate limit.
    const cookies = await Promise.all(Array.from({ length: Math.ceil(viewers / 50) }, () => createSession(backend)))
    for (let n = 0; n < viewers; n++)
      sockets.push(await openViewer(backend, { agentId, cookie: cookies[n % cookies.length], countFrames }))
    // The first rounds also warm up the program.
    const times = []
    for (let seq = 1; seq <= rounds + 10; seq++) times.push(await emitEvents(backend, { agentId, seq, countFrames }))
    const burst = await emitEvents(backend, { agentId, seq: rounds + 11, countFrames, howMany: 50 })
    for (const socket of sockets) socket.destroy()
    const measured = times.slice(10).toSorted((a, b) => a - b)
    return [
      row(`SSE, stored to the last of ${viewers} viewers, median`, median(measured), 'ms', { atMost: 50 }),
      row(`SSE, stored to the last of ${viewers} viewers, p95`, measured[Math.floor(measured.length * 0.95)], 'ms'),
      row(`SSE, fan-out of 50 events to ${viewers} viewers`, (50 * viewers) / (burst / 1000), 'frames/s'),
    ]
  } finally {
    await backend.close()
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  }
}

function startBackend(folder) {
  writeFileSync(join(folder, 'index.html'), '<!doctype html>')
  return openBackend({
    host: '127.0.0.1',
    port: 0,
    place: {
      dataFolder: join(folder, 'data'),
      template: fileURLToPath(new URL('../bin/database.br', import.meta.url)),
    },
    migrations: fileURLToPath(new URL('../assets/migrations', import.meta.url)),
    page: folder,
    version: 'bench',
    userName: 'bench',
    compiling: { readWorkflow: () => undefined },
    log: () => {},
    onLost: () => {},
  })
}

async function insertAgent({ database: { db } }) {
  const [machineId, id] = [randomUUID(), randomUUID()]
  await db.insert(machines).values({ id: machineId, name: 'm', status: 'active', createdAt: 1 })
  const workspace = { kind: 'folder', path: '/' }
  const agent = { id, name: 'a', machineId, workspace, program: 'claude', account: 'a', state: 'idle', createdAt: 1 }
  await db.insert(agents).values(agent)
  return id
}

async function createSession({ database }) {
  const id = randomUUID()
  await database.db.insert(users).values({ id, name: id, role: 'admin', createdAt: 1, subject: id })
  return `ralph-session=${await createAuthentication(database, Date.now).createSession(id, 'oidc')}`
}

/** Resolves when the stream is open. Counts the frames with the expected event. */
function openViewer({ origin }, { agentId, cookie, countFrames }) {
  const { hostname, port, host } = new URL(origin)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  return new Promise((resolve, reject) => {
    socket.once('error', reject)
    socket.once('close', () => reject(new Error('a viewer was cut off')))
    socket.once('data', (head) =>
      String(head).includes(' 200 ') ? resolve(socket) : reject(new Error(String(head).slice(0, 200))),
    )
    socket.on('data', (bytes) => countFrames(bytes))
    socket.write(`GET /api/events?agentId=${agentId} HTTP/1.1\r\nhost: ${host}\r\ncookie: ${cookie}\r\n\r\n`)
  })
}

const mark = Buffer.from('"the-awaited-note"')

/** `waitFor(n)` resolves when every viewer has received n more frames with the mark. */
function createFrameCounter(viewers) {
  let left = 0
  let done = () => {}
  const countFrames = (bytes) => {
    for (let at = bytes.indexOf(mark); at !== -1; at = bytes.indexOf(mark, at + 1)) left--
    if (left <= 0) done()
  }
  countFrames.waitFor = (frames) =>
    new Promise((resolve) => {
      left = frames * viewers
      done = resolve
    })
  return countFrames
}

/** As machines report: rows, then the signal. In ms from the end of the insert. */
async function emitEvents({ database }, { agentId, seq, countFrames, howMany = 1 }) {
  const all = countFrames.waitFor(howMany)
  const payload = { type: 'note', level: 'info', text: 'the-awaited-note' }
  const rows = Array.from({ length: howMany }, (_, n) => ({
    kind: 'event',
    agentId,
    seq: seq * 1000 + n,
    at: Date.now(),
    payload,
  }))
  await database.db.insert(events).values(rows)
  const startedAt = performance.now()
  database.signals.give(eventsTopic, '')
  await Promise.race([all, tooLong()])
  return performance.now() - startedAt
}

async function tooLong() {
  await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
  throw new Error('a viewer did not receive an event within a minute')
}

await printIfMain(import.meta.url, measure)
