import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { keepAwake } from './keep-awake.ts'

/** A program that records its arguments and its end. */
function createKeeper(name: string) {
  const folder = createTestFolder()
  const log = join(folder, 'log')
  writeFileSync(
    join(folder, name),
    `#!/bin/sh\ntrap 'echo ended >>${log}; exit' TERM\necho "$@" >>${log}\nwhile :; do /bin/sleep 0.05; done\n`,
    { mode: 0o755 },
  )
  writeFileSync(log, '')
  return { path: folder, lines: () => readFileSync(log, 'utf8').trimEnd().split('\n') }
}

async function waitUntil(isSo: () => boolean): Promise<void> {
  for (let tries = 0; !isSo(); tries++) {
    if (tries > 400) throw new Error('waited in vain')
    await pause(10)
  }
}

it.each([
  ['darwin', 'caffeinate', '-i -w 4711'],
  [
    'linux',
    'systemd-inhibit',
    '--what=idle:sleep --mode=block --who=ralph --why=a sprint is running tail --pid=4711 -f /dev/null',
  ],
] as const)('on %s, %s prevents sleep until it is released', async (platform, program, called) => {
  const { path, lines } = createKeeper(program)

  const letSleep = keepAwake({ platform, path, project: '/', pid: 4711 })
  await waitUntil(() => lines()[0] === called)
  letSleep()
  await waitUntil(() => lines().length === 2)

  expect(lines()).toEqual([called, 'ended'])
})

it.each(['darwin', 'linux', 'win32'] as const)('does nothing on %s without such a program', (platform) => {
  expect(() => keepAwake({ platform, path: createTestFolder(), project: '/', pid: process.pid })()).not.toThrow()
})

it('starts no program that an agent left in the project', async () => {
  const [planted, own] = [createKeeper('systemd-inhibit'), createKeeper('systemd-inhibit')]
  const path = `${planted.path}:${own.path}`

  const letSleep = keepAwake({ platform: 'linux', path, project: planted.path, pid: process.pid })
  await waitUntil(() => own.lines()[0] !== '')
  letSleep()
  await waitUntil(() => own.lines().length === 2)

  expect(planted.lines()).toEqual([''])
})
