#!/usr/bin/env node
// Tries to get out of a cell in every way of the corpus, and looks from outside afterwards:
//   npx tsc -b src/agents src/storage && node conformance/escapes/run.mjs --cell bubblewrap|namespaces|container|none [--only text] [--sample] [--write]
// For a container: --command 'podman --runtime runc' and --image, a name or a folder with a whole system; --run for more options.
// Exit code 1 if one succeeds. With --write the table goes into docs/escapes.md.
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { corpus } from './corpus.mjs'
import { openServices, tryEscape } from './lab.mjs'

const { values } = parseArgs({
  options: {
    cell: { type: 'string', default: 'bubblewrap' },
    command: { type: 'string' },
    image: { type: 'string' },
    only: { type: 'string', multiple: true },
    run: { type: 'string', multiple: true },
    sample: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
})
const self = fileURLToPath(import.meta.url)
if (!process.env.RALPH_ESCAPES_INHERITED) process.exit(withInheritedDescriptors())
// A secret of the user's environment, which no cell may show.
process.env.SECRET_OUTSIDE = 'secret'

const dist = new URL('../../dist/', import.meta.url)
const { cells } = await import(new URL('agents/cells/registry.js', dist))
const ralph = {
  ...(await import(new URL('agents/cells/sandbox.js', dist))),
  ...(await import(new URL('platform/processes/supervised-process.js', dist))),
  ...(await import(new URL('platform/files/files.js', dist))),
  ...(await import(new URL('platform/files/atomic-file.js', dist))),
  ...(await import(new URL('platform/processes/detached-process.js', dist))),
  ...(await import(new URL('agents/drivers/claude.js', dist))),
  ...(await import(new URL('agents/drivers/codex.js', dist))),
}
const cell = cells[values.cell]
const machine = { platform: process.platform, path: process.env.PATH ?? '', cwd: '/', container: containerSettings() }
const found = cell ? await cell.probe(machine) : { available: false, reason: 'there is no such cell' }
if (!found.available) fail(`${values.cell}: ${found.reason}`)
const services = await openServices()
const lab = { ralph, cell, tools: found.tools, services }
// Without walls most of the corpus would do to this machine what it tries to do.
const harmless = ['read', 'sprint', 'environment', 'leftover']
if (cell.kind !== 'none') await checkWalls()
await checkMeans()

const chosen = corpus.filter(
  ({ class: kind, id }, index) =>
    (!values.only || values.only.some((text) => `${kind}/${id}`.includes(text))) &&
    (!values.sample || index % 17 === 0),
)
const waiting = (cell.kind === 'none' ? chosen.filter((each) => harmless.includes(each.class)) : chosen).map(
  (each, index) => ({ ...each, index }),
)
const rows = []
await Promise.all(Array.from({ length: 4 }, work))
rows.sort((a, b) => a.index - b.index)
services.close()
const out = rows.filter(({ escaped }) => escaped)
const untried = rows.filter(({ tried }) => !tried)
const sum = summarise()
console.log(`\n${sum}${[...out, ...untried].map(({ id }) => ` ${id}`).join()}`)
if (values.write) write()
process.exit(out.length > 0 || rows.some(({ ran }) => !ran) ? 1 : 0)

async function work() {
  for (let each = waiting.shift(); each; each = waiting.shift()) {
    const { escaped, ran, code, errors, missing } = await tryEscape(lab, each)
    const tried = ran && (escaped || missing === undefined)
    const words = ran
      ? missing
        ? `${missing} is not installed`
        : lastWords(errors) || `exit ${code}`
      : 'did not start'
    const row = { ...each, escaped: escaped && ran, tried, ran, seen: escaped && ran ? 'OUT' : words }
    rows.push(row)
    console.log(`${row.escaped ? '✗' : tried ? '✓' : '?'} ${each.class}/${each.id}  ${row.seen}`)
  }
}

function summarise() {
  const rest = untried.length === 0 ? '' : `; ${untried.length} more could not be tried`
  // Not the name of the image, which may be a folder of this machine.
  const version = found.version.replace(/ with .*/, '')
  return `${values.cell} ${version}: ${out.length} of ${rows.length - untried.length} got out${rest}`
}

function containerSettings() {
  const { command, image, run } = values
  return { ...(command && { command: command.split(' ') }), ...(image && { image }), ...(run && { run }) }
}

/** One harmless look before anything that would do harm: that there are walls at all. */
async function checkWalls() {
  const sh = 'touch /usr/.ralph-escape 2>/dev/null || kill -0 "$OUTER_PID" 2>/dev/null || test "$(id -u)" = 0'
  const { escaped } = await tryEscape(lab, { sh })
  if (escaped) fail(`${values.cell} has no walls on this machine; nothing was tried`)
}

/** What cases use must work, and what a cell allows too: a wall that refuses everything would look the same. */
async function checkMeans() {
  const allowed =
    'curl -s -m60 --noproxy "" --proxy http://127.0.0.1:3128 "http://allowed.test:$ORIGIN_PORT/" | grep -q origin'
  const means = {
    'a file in the work tree': 'echo x >made && grep -q x made',
    python3: 'python3 -c ""',
    node: 'node -e ""',
    git: 'git status --short >/dev/null',
    ...(cell.kind !== 'none' && { 'an allowed host': allowed }),
  }
  for (const [name, sh] of Object.entries(means)) {
    const { escaped: worked, errors } = await tryEscape(lab, { sh })
    if (!worked) fail(`${name} does not work in ${values.cell}, so nothing would be shown: ${errors}`)
  }
}

/** Starts this program again with two descriptors that it does not know of. */
function withInheritedDescriptors() {
  const file = `/tmp/ralph-inherited-${process.pid}`
  writeFileSync(file, 'inherited')
  const script = 'exec 9<>"$0" 42<>"$0"; rm "$0"; exec "$@"'
  const words = [process.execPath, self, ...process.argv.slice(2)]
  const env = { ...process.env, RALPH_ESCAPES_INHERITED: '1' }
  const { status } = spawnSync('bash', ['-c', script, file, ...words], { stdio: 'inherit', env })
  return status ?? 1
}

function lastWords(text) {
  const known =
    /(Permission denied|Operation not permitted|Read-only file system|Device or resource busy|No such file or directory|Network is unreachable|Connection refused|Invalid argument|Invalid cross-device link|No such process|only what the image brings|Temporary failure in name resolution|\bE(?:PERM|ACCES|ROFS|BUSY|NOENT|XDEV|NOSYS)\b)/
  return known.exec(text)?.[1] ?? ''
}

function write() {
  const path = fileURLToPath(new URL('../../docs/escapes.md', import.meta.url))
  const account = process.getuid?.() === 0 ? 'root' : 'user'
  const heading = `## ${values.cell}, as ${account}`
  const table = [
    heading,
    '',
    `**${sum}.**`,
    '',
    '| class | way | seen |',
    '| --- | --- | --- |',
    ...rows.map((row) => `| ${row.class} | ${row.id} | ${row.seen} |`),
  ].join('\n')
  const intro = `# Ways out of a cell that were tried\n\nWritten by \`node conformance/escapes/run.mjs --cell … --write\`; the programs are in \`conformance/escapes/cases\`. After each one the machine is\nlooked at from outside: files, set-user-ID bits, names in \`.git\`, processes.`
  const old = existsSync(path) ? readFileSync(path, 'utf8') : ''
  const others = old
    .split(/^(?=## )/m)
    .slice(1)
    .filter((part) => !part.startsWith(`${heading}\n`))
  writeFileSync(
    path,
    `${[intro, ...[...others.map((part) => part.trim()), table].toSorted((a, b) => a.localeCompare(b, 'en'))].join('\n\n')}\n`,
  )
}

function fail(text) {
  console.error(`escapes: ${text}`)
  process.exit(1)
}
