// Writes the table of proof in README.md from the pages that the measuring commands wrote. With --check: reports whether it is up to date.
import { readFileSync, writeFileSync } from 'node:fs'

const cheats = readFileSync('docs/conformance-cheats.md', 'utf8')
const escapes = readFileSync('docs/escapes.md', 'utf8')
const benchmarks = readFileSync('docs/benchmarks.md', 'utf8')
const faults = readFileSync('docs/contribute/conformance.md', 'utf8')

const [, tried] = find(cheats, /\|\s*\*\*all\*\*\s*\|\s*(\d+)/, 'the sum of the cheats')
const [, accepted] = find(cheats, /^(\d+) cheats? (?:was|were) accepted without a label/m, 'the accepted cheats')
const [, honest, endings] = find(cheats, /^Honest endings: (\d+) of (\d+) accepted/m, 'the honest endings')
const [, out, ways] = find(escapes, /(\d+) of (\d+) got out/, 'the escapes')
const kinds = [...faults.matchAll(/^\| `[a-z-]+`/gm)].length

const rows = [
  [
    'cheating agents that Ralph takes for done, without a label',
    `${accepted} of ${tried}`,
    'npm run conformance -- cheats',
  ],
  ['honest work that Ralph accepts', `${honest} of ${endings}`, 'npm run conformance -- cheats'],
  ['faults of agents that Ralph survives', `${kinds} of ${kinds}`, 'npm run conformance'],
  ['ways out of a cell that succeed', `${out} of ${ways}`, 'node conformance/escapes/run.mjs'],
  [
    'CPU per iteration, above a bare loop',
    figure('iteration, CPU above a bare loop (agent in C)'),
    'npm run bench -- overhead',
  ],
  [
    '`kill -9` at iteration 100,000 until it continues',
    figure(/recovery, kill -9 at iteration 100,000, /),
    'npm run bench',
  ],
]

const table = [
  '| what                                                       | measured   | reproduce with                     |',
  '| ---------------------------------------------------------- | ---------- | ---------------------------------- |',
  ...rows.map(
    ([what, value, command]) => `| ${what.padEnd(58)} | ${value.padEnd(10)} | ${`\`${command}\``.padEnd(34)} |`,
  ),
].join('\n')

const readme = readFileSync('README.md', 'utf8')
const begin = '<!-- begin proof: written by scripts/readme-proof.mjs -->'
const written = readme.replace(
  new RegExp(`${begin}[\\s\\S]*<!-- end proof -->`),
  `${begin}\n\n${table}\n\n<!-- end proof -->`,
)
if (!readme.includes(begin)) throw new Error('README.md has no place for the table of proof')
if (!process.argv.includes('--check')) writeFileSync('README.md', written)
else if (written !== readme) {
  console.error('the table of proof in README.md is out of date; write it with: node scripts/readme-proof.mjs')
  process.exitCode = 1
}

function figure(name) {
  const row = benchmarks.split('\n').find((line) => (typeof name === 'string' ? line.includes(name) : name.test(line)))
  const value = row?.split('|')[2]?.trim()
  if (value === undefined) throw new Error(`docs/benchmarks.md has no figure called ${name}`)
  return value
}

function find(text, pattern, what) {
  const found = pattern.exec(text)
  if (found === null) throw new Error(`${what} are not where ${pattern} looks for them`)
  return found
}
