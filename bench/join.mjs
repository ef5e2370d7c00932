// From the command that joins a machine to the end of the first prompt there: `npm run build && node bench/join.mjs`.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const ralph = fileURLToPath(new URL('../bin/cli/main.cjs', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-join-'))
const homes = { backend: join(folder, 'backend'), machine: join(folder, 'machine') }
const project = join(folder, 'project')
for (const path of [homes.backend, homes.machine, project]) mkdirSync(path)
const agent = join(folder, 'agent.sh')
writeFileSync(
  agent,
  `echo '{"type":"result","subtype":"success","is_error":false,"result":"hello","usage":{},"session_id":"s"}'\n`,
)
const createEnv = (home) => ({ ...process.env, HOME: home, RALPH_HOME: home, DATABASE_URL: '' })
const started = []
const start = (home, ...args) =>
  started.push(spawn(process.execPath, [ralph, ...args], { env: createEnv(home), stdio: 'ignore' }))
const run = (home, ...args) => spawnSync(process.execPath, [ralph, ...args], { env: createEnv(home), encoding: 'utf8' })
const ms = (from, to) => Math.round(to - from)
async function until(look) {
  for (;;) {
    const found = await look().catch(() => undefined)
    if (found) return found
    await sleep(20)
  }
}

try {
  start(homes.backend, 'serve', '--port', '0', '--machines-port', '0', '--machines-host', '127.0.0.1', '--no-machine')
  const file = join(homes.backend, 'backend', 'serve.json')
  const { origin, token } = await until(async () => existsSync(file) && JSON.parse(readFileSync(file, 'utf8')))
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const get = async (path) => (await fetch(origin + path, { headers })).json()
  const post = async (path, body) =>
    (await fetch(origin + path, { method: 'POST', headers, body: JSON.stringify(body) })).json()
  const [, , , joinToken, , backend] = JSON.parse(
    run(homes.backend, 'machine', 'token', '--json').stdout,
  ).command.split(' ')

  const startedAt = performance.now()
  const where = ['--backend', backend, '--roots', folder, '--json']
  const { machineId } = JSON.parse(run(homes.machine, 'agents-server', 'join', joinToken, ...where).stdout)
  const joined = performance.now()
  start(homes.machine, 'agents-server', '--json')
  await until(async () => (await get('/api/machines')).items.some(({ id, reachable }) => id === machineId && reachable))
  const reachable = performance.now()
  const workspace = { kind: 'folder', path: project }
  const made = { name: 'one', machineId, workspace, program: `command:/bin/sh ${agent}` }
  const { id } = await post('/api/agents', made)
  await post(`/api/agents/${id}/prompts`, { prompt: 'hello' })
  await until(async () => (await get(`/api/agents/${id}/prompts`)).items.some(({ status }) => status === 'finished'))
  const ended = performance.now()
  console.log(
    JSON.stringify({
      joinMs: ms(startedAt, joined),
      reachableMs: ms(joined, reachable),
      promptMs: ms(reachable, ended),
      joinToFirstPromptMs: ms(startedAt, ended),
    }),
  )
} finally {
  for (const child of started) child.kill('SIGKILL')
  await sleep(200)
  rmSync(folder, { recursive: true, force: true })
}
