// node scripts/seeds.mjs [--check]: writes docs/seeds.md from docs/seeds.json.
import { readFileSync, writeFileSync } from 'node:fs'

const rows = JSON.parse(readFileSync('docs/seeds.json', 'utf8'))
const different = rows.filter(({ verdict }) => verdict === 'differently')

const cell = (text) => text.replaceAll(/(?<!\\)\|/g, '\\|')
const link = ({ file, text }) => `[${cell(text.trim())}](../${file})`
const line = ({ row, seed, requirement, verdict, why, note, evidence }) =>
  `| ${row} | ${seed} | ${cell(requirement)} | ${verdict} | ${cell(why ?? note ?? '')} | ${link(evidence)} |`

const text = `# The seed documents, line by line

Every requirement of the five documents that Ralph Mode started from, with what happens here and the test or page that shows it. Where
Ralph Mode does it differently, the table says why you are better off. \`test/seeds.test.ts\` breaks when the evidence of a row is gone.

| verdict | rows |
| --- | --- |
| as written | ${rows.length - different.length} |
| differently | ${different.length} |
| missing | 0 |
| all | ${rows.length} |

| row | seed:line | requirement | verdict | what happens, or why it is better | evidence |
| --- | --- | --- | --- | --- | --- |
${rows.map(line).join('\n')}
`

if (!process.argv.includes('--check')) writeFileSync('docs/seeds.md', text)
else if (readFileSync('docs/seeds.md', 'utf8') !== text) {
  console.error('docs/seeds.md is not what docs/seeds.json says; run: node scripts/seeds.mjs')
  process.exit(1)
}
