// Shared by all benches. A bench exports `measure(): Promise<Row[]>`; a row is {name, value, unit, target?, ok?, sturdy?}. A
// sturdy figure is a ratio of CPU times within one run, which is comparable across machines and under load.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { cpus, loadavg, tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ralph = fileURLToPath(new URL('../bin/cli/main.cjs', import.meta.url))
const agentSource = fileURLToPath(new URL('agent.c', import.meta.url))

/** The target is `atMost` or `atLeast`. */
export function row(name, value, unit, { atMost, atLeast, sturdy = false } = {}) {
  if (!Number.isFinite(value)) throw new Error(`no figure for "${name}"`)
  const rounded = Number(value.toPrecision(3))
  if (atMost !== undefined) return { name, value: rounded, unit, target: `≤ ${atMost}`, ok: value <= atMost, sturdy }
  if (atLeast !== undefined) return { name, value: rounded, unit, target: `≥ ${atLeast}`, ok: value >= atLeast, sturdy }
  return { name, value: rounded, unit, sturdy }
}

/** Prints the rows of a bench that was started directly. */
export async function printIfMain(url, measure) {
  if (!process.argv[1] || realpathSync(process.argv[1]) !== fileURLToPath(url)) return
  const rows = await measure()
  console.log(process.argv.includes('--json') ? JSON.stringify(rows) : renderTable(rows))
  process.exit(rows.every(({ ok }) => ok !== false) ? 0 : 1)
}

/** Progress on stderr. */
export function printProgress(text) {
  process.stderr.write(`    ${text}\n`)
}

export function renderTable(rows) {
  const lines = rows.map(({ name, value, unit, target = '', ok }) => [
    name,
    value === undefined ? 'failed' : `${value} ${unit}`,
    target,
    ok === undefined ? '' : ok ? '✓ met' : '✗ missed',
  ])
  const heads = ['figure', 'measured', 'target', '']
  const widths = heads.map((_, column) => Math.max(3, ...[heads, ...lines].map((line) => line[column].length)))
  const text = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`
  return [text(heads), text(widths.map((width) => '-'.repeat(width))), ...lines.map(text)].join('\n')
}

/** The number after a flag, else the default. */
export function option(name, otherwise) {
  const index = process.argv.indexOf(`--${name}`)
  return index === -1 ? otherwise : Number(process.argv[index + 1])
}

/** Wall and CPU time of a shell command and everything it starts, in ms. */
export function timed(command, { env, cwd }) {
  const startedAt = performance.now()
  // bash's `times` prints user and system time of its children.
  const { stdout } = spawnSync('bash', ['-c', `{ ${command}\n} >/dev/null 2>&1; times`], { env, cwd, encoding: 'utf8' })
  const wall = performance.now() - startedAt
  const children = stdout.trim().split('\n').at(-1) ?? ''
  const cpu = [...children.matchAll(/(\d+)m([\d.]+)s/g)].reduce((sum, [, m, s]) => sum + m * 60_000 + s * 1000, 0)
  return { wall, cpu }
}

/** Wall times mean something on an idle machine only. */
export function machine() {
  const [{ model }] = cpus()
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB`
  const load = loadavg()[0].toFixed(1)
  return `${cpus().length} × ${model.trim()}, ${memory}, Node ${process.version}, ${process.platform}; load average ${load}`
}

export const least = (numbers) => Math.min(...numbers)
export const median = (numbers) => numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)]

/**
 * Puts a `claude` that does nothing into a folder: the C program if there is a compiler, else a Node program, which costs far more
 * per iteration than the loop itself, and leaves steps as they are. Returns which. Records its starts in `times`, if given.
 */
export function tinyAgent(folder, times) {
  const program = join(folder, 'claude')
  try {
    const notes = times === undefined ? [] : [`-DTIMES="${times}"`]
    execFileSync('cc', ['-O2', ...notes, '-o', program, agentSource], { stdio: 'ignore' })
    return 'C'
  } catch {
    const lines = readFileSync(agentSource, 'utf8').matchAll(/^ {2}puts\((".*")\);$/gm)
    const prints = [...lines].map(([, text]) => `console.log(${text})`)
    const note = `require('node:fs').appendFileSync('${times}', Date.now() / 1000 + '\\n')\n`
    const head = `#!/usr/bin/env node\n${times === undefined ? '' : note}`
    writeFileSync(program, `${head}process.stdin.resume()\n${prints.join('\n')}\n`, { mode: 0o755 })
    return 'Node'
  }
}

/** A new folder on disk. */
export const diskFolder = () => mkdtempSync(join(tmpdir(), 'ralph-bench-'))

/**
 * A new folder in memory, if possible and programs can be started there; else on disk. For CPU times: after thousands of files
 * were deleted, ext4 takes up to a millisecond to allocate a new one, and an attempt has eight.
 */
export function memoryFolder() {
  if (!existsSync('/dev/shm')) return diskFolder()
  const folder = mkdtempSync('/dev/shm/ralph-bench-')
  writeFileSync(join(folder, 'program'), '#!/bin/sh\n', { mode: 0o755 })
  if (spawnSync(join(folder, 'program')).status === 0) return folder
  rmSync(folder, { recursive: true })
  return diskFolder()
}

/** A sprint that never ends, with the tiny agent: no checks, no commits, unless `more` settings say so. */
export function endlessSprint(dir, more = {}) {
  mkdirSync(dir, { recursive: true })
  const settings = {
    workflow: 'ralph',
    goal: 'g',
    agent: 'claude',
    'done-when': [],
    checkpoint: false,
    limits: { 'no-progress': 'off' },
    ralph: { 'idle-threshold': 1_000_000 },
    ...more,
  }
  writeFileSync(join(dir, 'SPRINT.yaml'), JSON.stringify(settings))
  return dir
}

export function benchEnv(folder) {
  return { ...process.env, HOME: folder, PATH: `${folder}:${process.env.PATH}`, IS_SANDBOX: '1' }
}
