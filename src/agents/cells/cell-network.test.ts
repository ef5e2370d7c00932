import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { createTestFolder } from '../../../test/support/folder.ts'
import { Network } from '../../contract/cell.ts'
import { openNetwork } from './cell-network.ts'

const addresses: Readonly<Record<string, string>> = { 'inside.test': '10.0.0.1' }

const escapeText = (text: string): string => text.replace(/[[\]".*]/g, '\\$&')

/** Asks the network of a cell for a host. Returns what it noted for the user and its report. */
async function visit(host: string, settings: Exclude<z.output<typeof Network>, string> = {}) {
  const folder = createTestFolder()
  const notes: string[] = []
  const network = await openNetwork({
    spec: { allow: settings.allow ?? [], private: settings.private ?? [] },
    folder,
    cwd: folder,
    // A proxy of the user that is not there: nothing leaves this machine.
    env: host.startsWith('evil.test') ? { HTTPS_PROXY: 'http://127.0.0.1:9' } : {},
    project: [],
    onNote: (text) => notes.push(text),
    resolve: async (name) => [addresses[name] ?? name.replace(/^\[|\]$/g, '')],
  })
  onTestFinished(network.close)
  const socket = connect(join(folder, 'proxy.sock')).on('error', () => {})
  socket.write(`CONNECT ${host} HTTP/1.1\r\nHost: ${host}\r\n\r\n`)
  await expect.poll(() => [network.report().allowed, network.report().refused]).not.toEqual([{}, {}])
  socket.destroy()
  return { notes, report: network.report() }
}

it.each([
  ['evil.test:443', 'evil.test:443', 'allow: ["evil.test"]'],
  ['evil.test:8443', 'evil.test:8443', 'allow: ["evil.test:8443"]'],
  ['10.0.0.1:80', '10.0.0.1:80', 'private: ["10.0.0.1"]'],
  ['[fd00::1]:5432', 'fd00::1:5432', 'private: ["[fd00::1]:5432"]'],
])('notes the setting that allows %s, and it does', async (host, name, setting) => {
  const { notes, report } = await visit(host)
  expect([Object.keys(report.refused), notes]).toEqual([
    [name],
    [expect.stringMatching(new RegExp(`^network: refused .*; to allow it: network: \\{${escapeText(setting)}\\}$`))],
  ])
  const line: unknown = parse(notes[0]?.split('to allow it: ')[1] ?? '')
  const { network } = z.object({ network: Network }).parse(line)
  const allowed = await visit(host, typeof network === 'string' ? {} : network)
  expect([allowed.notes, Object.keys(allowed.report.allowed)]).toEqual([[], [name]])
})

it('notes that a name of the allow-list which leads into a private network must be named as such', async () => {
  const { notes, report } = await visit('inside.test:443', { allow: ['inside.test'] })
  expect([report.private, notes]).toEqual([
    { 'inside.test:443': 1 },
    [expect.stringContaining('to allow it: network: {private: ["inside.test"]}')],
  ])
})
