import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../../test/support/folder.ts'
import { withForwarder } from './forwarder.ts'

/** It kills every process that it sees, so it runs in a PID namespace or not at all. */
const enclosed = ['-Urpnf', '--mount-proc', '--kill-child', 'sh', '-c', 'ip link set lo up; "$@"; echo "code $?"', 'sh']
const canEnclose =
  spawnSync('unshare', [...enclosed, 'true'])
    .stdout?.toString()
    .includes('code 0') ?? false

it.skipIf(!canEnclose).each([['perl', '/usr/bin/perl'] as const, ['Node', undefined] as const])(
  'ends the program if the proxy is gone, by %s: an agent would wait for ever',
  { timeout: 120_000 },
  (_, perl) => {
    const script = "require('net').connect(3128, '127.0.0.1').on('error', () => {}); setInterval(() => {}, 1000)"
    const command = { file: process.execPath, args: ['-e', script], env: {} }
    const socket = join(createTestFolder(), 'proxy.sock')
    const { file, args } = withForwarder(command, { perl, socket, ports: [], patienceSeconds: 1 })
    const { stderr } = spawnSync('unshare', [...enclosed, file, ...args], { encoding: 'utf8', timeout: 60_000 })
    expect(stderr).toContain('ralph: the network of this cell is gone')
  },
)
