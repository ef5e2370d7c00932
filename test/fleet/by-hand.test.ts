import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { createClient } from '../../src/client/client.ts'
import { ralphProgram, root } from '../support/paths.ts'
import { createApiCaller } from './test-backend.ts'
import { waitUntil } from './test-fleet.ts'

/** A fleet of two machines by hand, with nothing but the commands of the guide, and the commands that look after it. */
let home = ''
const started: ChildProcess[] = []
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'ralph-by-hand-'))
})
afterAll(async () => {
  started.forEach((child) => child.kill('SIGKILL'))
  await rm(home, { recursive: true, force: true })
})

/** `ralph …` of a user whose home is a folder of its own. */
function ralph(user: string, ...args: readonly string[]) {
  return start(user, join(home, user), [ralphProgram, ...args])
}

function start(user: string, cwd: string, args: readonly string[]) {
  const folder = join(home, user)
  const env = { PATH: process.env['PATH'], HOME: folder, LANG: 'C.UTF-8', NO_COLOR: '1' }
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  started.push(child)
  const printed = { out: '', err: '' }
  child.stdout.on('data', (part: Buffer) => (printed.out += part.toString()))
  child.stderr.on('data', (part: Buffer) => (printed.err += part.toString()))
  const ended = once(child, 'close').then(([code]: unknown[]) => ({ code, ...printed }))
  return { printed, ended }
}

const readJson = (name: string): unknown => JSON.parse(readFileSync(join(home, name), 'utf8'))

const prints = ({ printed }: ReturnType<typeof ralph>, text: RegExp) =>
  waitUntil(
    async () => printed,
    ({ out, err }) => text.test(out) || text.test(err),
    120_000,
  )

it('is a fleet of two machines after five commands, and doctor, backup and restore work on it', async () => {
  for (const user of ['operator', 'first', 'second', 'third']) await mkdir(join(home, user))
  const serve = ralph('operator', 'serve', '--port', '0', '--machines-port', '0', '--no-machine')
  await prints(serve, /ralph machine token/)
  const address = /Ralph runs at (\S+)/.exec(serve.printed.out)?.[1] ?? ''
  let used: readonly string[] = []
  for (const user of ['first', 'second']) {
    const { out } = await ralph('operator', 'machine', 'token').ended
    const [installed = '', checkout = '', image = ''] = out.split('\n').filter((line) => line.includes(' join '))
    const [, command = ''] = /^ {2}ralph (agents-server join \S.* --run)$/.exec(installed) ?? []
    expect([checkout, image]).toEqual([
      `  node bin/cli/main.cjs ${command}`,
      expect.stringMatching(/^ {2}docker run -d .* ralph-mode agents-server join /),
    ])
    const [, ...inCheckout] = `${checkout.trim()} --name ${user}`.split(' ')
    const machine =
      user === 'first' ? ralph(user, ...command.split(' '), '--name', user, '--shared') : start(user, root, inCheckout)
    await prints(machine, /connected/)
    expect(machine.printed.out).toBe(`joined as "${user}"\n`)
    used = command.split(' ')
  }
  const refused = await ralph('third', ...used, '--name', 'third').ended
  expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('JOIN_REFUSED')])

  const { token } = z.object({ token: z.string() }).parse(readJson('operator/.ralph/backend/serve.json'))
  const { items } = await createClient({ baseUrl: address, token }).listMachines({})
  expect(Object.fromEntries(items.map(({ name, shared }) => [name, shared]))).toEqual({ first: true, second: false })

  const audit = await createClient({ baseUrl: address, token }).listAudit({})
  const joins = audit.items.filter(({ what }) => what.startsWith('join'))
  expect(joins.map(({ who, what, details }) => [what, who, details])).toEqual([
    ['joinRefused', 'third', expect.objectContaining({ why: 'used', address: '127.0.0.1' })],
    ['join', 'second', expect.objectContaining({ shared: false })],
    ['join', 'first', expect.objectContaining({ shared: true })],
  ])

  // Another user gets a grant only on the machine whose owner shares it, even from an admin.
  const admin = createApiCaller(address, { token })
  const guest = await invite(admin, address)
  const use = async (name: string) => {
    const machineId = items.find((machine) => machine.name === name)?.id ?? ''
    const grant = { level: 'run', roots: [join(home, name)] }
    const granted = await admin('PUT', `/api/machines/${machineId}/grants/${guest.userId}`, grant)
    const workspace = { kind: 'folder', path: join(home, name) }
    const created = await guest.ask('POST', '/api/agents', { name, machineId, program: 'claude', workspace })
    return [granted.status, created.status]
  }
  expect({ first: await use('first'), second: await use('second') }).toEqual({ first: [200, 201], second: [403, 403] })

  const doctor = await ralph('operator', 'doctor', '--backend', address).ended
  expect(doctor).toMatchObject({ code: 0, err: '' })
  for (const line of [
    /✓ database +embedded/,
    /✓ rights +may write/,
    /✓ migrations/,
    /✓ engine/,
    /✓ machines +2 connected/,
  ])
    expect(doctor.out).toMatch(line)
  expect(await ralph('operator', 'doctor', '--alive').ended).toMatchObject({ code: 0, err: '' })
  expect(await ralph('first', 'doctor', '--alive').ended).toMatchObject({ code: 0, err: '' })

  const backup = await ralph('operator', 'backup', '--json').ended
  expect(backup).toMatchObject({ code: 0, err: '' })
  const { file } = z.object({ file: z.string() }).parse(JSON.parse(backup.out))
  expect(await ralph('operator', 'backup', 'check', file).ended).toMatchObject({ code: 0, err: '' })
  const restored = ['--data', join(home, 'restored')]
  expect(await ralph('operator', 'backup', 'restore', file, ...restored).ended).toMatchObject({ code: 0, err: '' })
  const again = await ralph('operator', 'backup', 'restore', file, ...restored).ended
  expect([again.code, again.err]).toEqual([1, expect.stringContaining('DATABASE_IN_USE')])
}, 240_000)

/** A new user, signed in with the address of an invitation. */
async function invite(admin: ReturnType<typeof createApiCaller>, address: string) {
  const { body } = await admin('POST', '/api/invitations', { name: 'guest' })
  const invitation = z.object({ user: z.object({ id: z.string() }), address: z.string() }).parse(body)
  const ticket = new URL(invitation.address).hash.slice(1)
  const { headers } = await createApiCaller(address)('POST', '/api/sign-in', { ticket })
  const cookie = headers.get('set-cookie')?.split(';')[0] ?? ''
  return { userId: invitation.user.id, ask: createApiCaller(address, { cookie }) }
}

it('says that nothing runs here, and that an address is no backend', async () => {
  await mkdir(join(home, 'stranger'), { recursive: true })
  expect(await ralph('stranger', 'doctor', '--alive').ended).toMatchObject({
    code: 1,
    err: 'neither a backend nor an agents-server runs here\n',
  })
  const away = await ralph('stranger', 'doctor', '--backend', 'http://127.0.0.1:9').ended
  expect([away.code, away.out]).toEqual([1, expect.stringContaining('is unreachable')])
  const wrong = await ralph('stranger', 'doctor', '--backend', 'foo').ended
  expect([wrong.code, wrong.err]).toEqual([1, expect.stringContaining('USAGE')])
})
