// Lists every package that users get with Ralph, installed by npm or bundled into the page, with its licence. Fails for a licence that
// is unknown or requires more than a notice, and for a package with an install script. Reads only the lockfile.
// Usage: npm run check:licences [-- <lockfile>]
import { readFileSync } from 'node:fs'

const allowed = new Set([
  'MIT',
  'ISC',
  'BSD-2-Clause',
  'BSD-3-Clause',
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'Unlicense',
])

/** Development dependencies whose code ships with the page. */
const bundled = [
  '@base-ui/react',
  '@tanstack/react-query',
  '@tanstack/react-router',
  '@tanstack/react-virtual',
  'cmdk',
  'lucide-react',
  'react',
  'react-dom',
  'react-markdown',
]

const file = process.argv[2] ?? new URL('../package-lock.json', import.meta.url)
const { packages } = JSON.parse(readFileSync(file, 'utf8'))
const { dependencies, devDependencies = {} } = packages['']
const found = closure([...Object.keys(dependencies), ...bundled.filter((name) => devDependencies[name])])
let refused = 0
for (const path of [...found].toSorted()) {
  const { version, license = 'unknown', hasInstallScript } = packages[path]
  const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
  const reasons = [
    ...(isAllowed(license) ? [] : [`its licence is ${license}`]),
    ...(hasInstallScript ? ['it runs a script when it is installed'] : []),
  ]
  console.log(`${license.padEnd(14)} ${name} ${version}`)
  for (const reason of reasons) console.error(`refused: ${name} ${version}: ${reason}`)
  refused += reasons.length
}
console.log(`${found.size} packages, ${refused} refused`)
process.exitCode = refused === 0 ? 0 : 1

/** The paths of these packages and of everything they need. An optional package that is not in the lockfile is not installed. */
function closure(names) {
  const paths = new Set()
  const waiting = names.map((name) => packagePath(name, ''))
  if (waiting.includes(undefined)) throw new Error('the lockfile lacks packages that package.json names')
  for (let path = waiting.pop(); path !== undefined; path = waiting.pop()) {
    if (paths.has(path)) continue
    paths.add(path)
    const { dependencies: needed, optionalDependencies, peerDependencies } = packages[path]
    for (const name of Object.keys({ ...needed, ...optionalDependencies, ...peerDependencies })) {
      const next = packagePath(name, path)
      if (next !== undefined) waiting.push(next)
    }
  }
  return paths
}

/** As Node resolves it: in the nearest node_modules above. */
function packagePath(name, from) {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    const path = at === '' ? `node_modules/${name}` : `${at}/node_modules/${name}`
    if (packages[path]) return path
    if (at === '') return undefined
  }
}

/** `A OR B` needs one allowed licence, `A AND B` both. */
function isAllowed(expression) {
  const words = expression.replaceAll(/[()]/g, '')
  if (words.includes(' OR ')) return words.split(' OR ').some((part) => isAllowed(part))
  return words.split(' AND ').every((part) => allowed.has(part.trim()))
}
