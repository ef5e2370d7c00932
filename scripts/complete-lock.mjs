// Completes a package-lock.json with the optional packages of other platforms that the current registry lacks: npm omits
// them when it writes the lock, and `npm ci` then rejects the lock. Usage: node complete-lock.mjs <package-lock.json>
import { readFileSync, writeFileSync } from 'node:fs'
const file = process.argv[2]
const lock = JSON.parse(readFileSync(file, 'utf8'))
const { packages } = lock
const known = (key) => Object.keys(packages).some((path) => path === key || path.endsWith(`/${key}`))
for (const [path, { optionalDependencies = {}, dev, engines }] of Object.entries(packages)) {
  if (path === '') continue
  for (const [name, version] of Object.entries(optionalDependencies)) {
    const key = `node_modules/${name}`
    if (known(key)) continue
    const [os, cpu, abi = ''] = name
      .split('/')
      .at(-1)
      .replace(/^binding-/, '')
      .split('-')
    const wasm = os === 'wasm32'
    const libc = os !== 'linux' ? undefined : { gnu: 'glibc', musl: 'musl' }[abi]
    packages[key] = {
      version,
      cpu: [wasm ? os : cpu],
      ...(dev && { dev }),
      ...(libc && { libc: [libc] }),
      optional: true,
      ...(!wasm && { os: [os] }),
      ...(engines && { engines }),
    }
  }
}
const sorted = Object.keys(packages).sort((a, b) => a.localeCompare(b, 'en'))
lock.packages = Object.fromEntries(sorted.map((key) => [key, packages[key]]))
writeFileSync(file, `${JSON.stringify(lock, undefined, 2)}\n`)
