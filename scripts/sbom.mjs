// Writes the software bill of materials of the package, in CycloneDX: what users install, with version, licence and checksum.
// Usage: node scripts/sbom.mjs <file>; `npm pack` does it by itself. `npm sbom --omit dev` omits packages that both need.
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const [file] = process.argv.slice(2)
if (file === undefined) {
  console.error('usage: node scripts/sbom.mjs <file>')
  process.exit(2)
}
const readJson = (name) => JSON.parse(readFileSync(join(root, name), 'utf8'))
const { name, version, license } = readJson('package.json')
const shipped = Object.entries(readJson('package-lock.json').packages).filter(
  ([path, { dev, devOptional }]) => path !== '' && !dev && !devOptional,
)
const components = new Map(
  shipped.map(([path, entry]) => [`${packageName(path)}@${entry.version}`, component(path, entry)]),
)
const bom = {
  $schema: 'http://cyclonedx.org/schema/bom-1.5.schema.json',
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  metadata: { component: { type: 'application', ...identity(name, version), ...licences(license) } },
  components: [...components.values()],
}
writeFileSync(file, `${JSON.stringify(bom, undefined, 2)}\n`)

function component(path, { version: its, license: kind, integrity, optional }) {
  const scope = optional ? 'optional' : 'required'
  return { type: 'library', ...identity(packageName(path), its), scope, ...licences(kind), ...hashes(integrity) }
}

function packageName(path) {
  return path.split('node_modules/').at(-1)
}

function identity(name, version) {
  const purl = `pkg:npm/${name.replace('@', '%40')}@${version}`
  return { 'bom-ref': `${name}@${version}`, name, version, purl }
}

function licences(expression) {
  return expression === undefined ? {} : { licenses: [{ expression }] }
}

function hashes(integrity = '') {
  const [, digest] = /^sha512-(.+)$/.exec(integrity) ?? []
  if (digest === undefined) return {}
  return { hashes: [{ alg: 'SHA-512', content: Buffer.from(digest, 'base64').toString('hex') }] }
}
