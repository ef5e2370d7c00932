// Writes docs/reference/cli.md from the commands themselves, so that it is never out of date. With --check: reports whether it is.
import { readFileSync, writeFileSync } from 'node:fs'
import { commands } from '../dist/cli/commands.js'
import { exitCodeRows } from '../dist/cli/io/exit-code.js'

const file = new URL('../docs/reference/cli.md', import.meta.url)

const abouts = await Promise.all(Object.values(commands).map(async ({ load }) => (await load()).about))

const cell = (text) => text.replaceAll('|', '\\|').replaceAll('<', '&lt;')

function options({ options }) {
  const rows = Object.entries(options)
    .filter(([name]) => name !== 'help')
    .map(([name, { short, type, value = 'VALUE', description }]) => {
      const flag = `${short ? `-${short}, ` : ''}--${name}${type === 'string' ? ` ${value}` : ''}`
      return `| \`${flag}\` | ${cell(description)} |`
    })
  return rows.length === 0 ? [] : ['| option | meaning |', '| --- | --- |', ...rows, '']
}

function section(about) {
  const usage = ['ralph', about.name, ...(about.arguments ?? []), '[options]'].join(' ')
  return [
    `## ${about.name}`,
    '',
    `${about.summary}.`,
    '',
    `    ${usage}`,
    '',
    ...(about.details ? [about.details.replaceAll('<', '&lt;'), ''] : []),
    ...options(about),
    ...(about.examples ? ['For example:', '', ...about.examples.map((example) => `    ${example}`), ''] : []),
  ]
}

const page = [
  '# The command line',
  '',
  '<!-- Written by scripts/cli-docs.mjs from the commands themselves; npm run generate -->',
  '',
  '`ralph <command> --help` shows the same, `ralph --version` the version. Unknown commands and options are refused, with a guess at',
  'what was meant. Errors are one line on stderr: place, code, message, what to do; with `--json`, one JSON object.',
  '',
  '| command | what it does |',
  '| --- | --- |',
  ...abouts.map(({ name, summary }) => `| [\`ralph ${name}\`](#${name}) | ${cell(summary)} |`),
  '',
  ...abouts.flatMap(section),
  '## Exit codes',
  '',
  '| code | meaning |',
  '| --- | --- |',
  ...exitCodeRows.map(({ code, meaning }) => `| ${code} | ${cell(meaning)} |`),
  '',
].join('\n')

if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') === page) process.exit(0)
  console.error('docs/reference/cli.md is out of date; write it with: npm run generate')
  process.exit(1)
}
writeFileSync(file, page)
