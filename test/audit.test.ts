import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { createTestFolder } from './support/folder.ts'
import { root } from './support/paths.ts'

it('refuses a known vulnerability of high severity, and names the package', async () => {
  const advisory = { id: 1, url: 'https://example.org/1', title: 'a hole', severity: 'high', vulnerable_versions: '<2' }
  const registry = await startRegistry(200, {
    leaky: [{ ...advisory, cwe: [], cvss: { score: 8, vectorString: null } }],
  })

  expect(await audit(registry)).toEqual({
    status: 1,
    stdout: expect.stringMatching(
      /^npm audit: high: leaky .*\nnpm audit, \d{4}-\d\d-\d\d: 1 known, 1 of them high or critical\n$/,
    ),
  })
})

it('accepts packages without a known vulnerability', async () => {
  expect(await audit(await startRegistry(200, {}))).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^npm audit, \d{4}-\d\d-\d\d: 0 known, 0 of them high or critical\n$/),
  })
})

it('says that nothing was checked if the registry does not support audits', async () => {
  expect(await audit(await startRegistry(405, {}))).toEqual({
    status: 0,
    stdout: expect.stringMatching(
      /^npm audit, \d{4}-\d\d-\d\d: NOT CHECKED, the registry gave no answer \(405 Method Not Allowed/,
    ),
  })
})

it('lists every package that users install in the bill of materials, with its checksum', () => {
  const file = join(createTestFolder(), 'sbom.json')
  const { status } = spawnSync(process.execPath, [join(root, 'scripts/sbom.mjs'), file], { cwd: root })
  const bom = JSON.parse(readFileSync(file, 'utf8'))
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  const shipped = Object.entries<{ dev?: boolean; devOptional?: boolean; version: string }>(lock.packages)
    .filter(([path, { dev, devOptional }]) => path !== '' && dev !== true && devOptional !== true)
    .map(([path, { version }]) => `${path.split('node_modules/').at(-1)}@${version}`)
  const listed = bom.components.map(({ name, version }: Record<string, string>) => `${name}@${version}`)
  expect([status, bom.metadata.component.name]).toEqual([0, 'ralph-mode'])
  expect(new Set(listed)).toEqual(new Set(shipped))
  expect(bom.components.filter(({ hashes }: { hashes?: unknown }) => hashes === undefined)).toEqual([])
})

it('has no checksum only for packages that neither users nor this platform install', () => {
  const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'))
  type Entry = {
    integrity?: string
    dev?: boolean
    devOptional?: boolean
    optional?: boolean
    os?: string[]
    cpu?: string[]
  }
  const open = Object.entries<Entry>(packages).filter(([path, { integrity }]) => path !== '' && integrity === undefined)
  const isForeign = ({ os, cpu }: Entry) =>
    os?.includes(process.platform) !== true || cpu?.includes(process.arch) !== true
  const wrong = open.filter(([, entry]) => !entry.optional || !(entry.dev ?? entry.devOptional) || !isForeign(entry))
  // Those of a C library that this machine has not got.
  expect(wrong.filter(([path]) => !path.includes('musl'))).toEqual([])
})

/** A registry that knows advisories, and one version of `leaky`. */
async function startRegistry(status: number, advisories: unknown): Promise<string> {
  const leaky = { name: 'leaky', 'dist-tags': { latest: '1.0.0' }, versions: { '1.0.0': { version: '1.0.0' } } }
  const server = createServer((request, response) => {
    const isQuestion = request.method === 'POST'
    response.writeHead(isQuestion ? status : 200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isQuestion ? advisories : leaky))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a server that listens on a port has one
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

async function audit(registry: string) {
  const cwd = createTestFolder()
  const one = { version: '1.0.0', resolved: `${registry}leaky.tgz` }
  const packages = { '': { name: 'p', dependencies: { leaky: '1.0.0' } }, 'node_modules/leaky': one }
  writeFileSync(join(cwd, 'package.json'), JSON.stringify({ name: 'p', dependencies: { leaky: '1.0.0' } }))
  writeFileSync(join(cwd, 'package-lock.json'), JSON.stringify({ name: 'p', lockfileVersion: 3, packages }))
  const own = { npm_config_registry: registry, npm_config_cache: join(cwd, 'cache'), npm_config_noproxy: '127.0.0.1' }
  const env = { ...process.env, ...own, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' }
  const child = spawn(process.execPath, [join(root, 'scripts/audit.mjs')], { cwd, env })
  let stdout = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  const [status] = await once(child, 'close')
  return { status, stdout }
}
