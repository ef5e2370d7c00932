// How much later an agent starts in a cell than without one, measured in turns, from the call to the first action of the agent.
// Usage: npm run bench -- cell [-- --rounds 20]
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { least, median, option, printIfMain, row } from './measure.mjs'

const dist = new URL('../dist/', import.meta.url)

export async function measure({ rounds = option('rounds', 20) } = {}) {
  const { cells } = await import(new URL('agents/cells/registry.js', dist))
  const base = mkdtempSync(join(tmpdir(), 'ralph-bench-cell-'))
  try {
    const sprintDir = join(base, 'project/.claude/sprints/s')
    for (const folder of [sprintDir, join(base, 'home/.ralph')]) mkdirSync(folder, { recursive: true })
    writeFileSync(join(base, 'project/package.json'), '{}')
    execFileSync('git', ['-C', join(base, 'project'), 'init', '-q'])
    const rows = []
    for (const kind of ['bubblewrap', 'namespaces']) {
      const found = await cells[kind].probe({ platform: process.platform, path: process.env.PATH, cwd: '/' })
      if (found.available) rows.push(...(await compare(kind, { ...found, cell: cells[kind], base, sprintDir, rounds })))
    }
    return rows
  } finally {
    rmSync(base, { recursive: true, force: true, maxRetries: 5 })
  }
}

async function compare(kind, { cell, tools, base, sprintDir, rounds }) {
  const { openSandbox } = await import(new URL('agents/cells/sandbox.js', dist))
  const spec = { network: { allow: [], private: [] }, limits: {}, read: [], write: [], keys: 'real' }
  const sandbox = openSandbox({ cell, tools, spec, ralphHomes: [join(base, 'home/.ralph')] })
  const place = { base, sprintDir, kind }
  const times = { none: [], cell: [] }
  // The first ones fill caches.
  await startAgent(place, -1, undefined)
  await startAgent(place, 0, sandbox)
  for (let round = 1; round <= rounds; round++) {
    times.none.push(await startAgent(place, 2 * round, undefined))
    times.cell.push(await startAgent(place, 2 * round + 1, sandbox))
  }
  const target = kind === 'bubblewrap' ? { atMost: 100 } : {}
  return [
    row(
      `start of an agent in a cell of ${kind} over none, median`,
      median(times.cell) - median(times.none),
      'ms',
      target,
    ),
    row(`start of an agent in a cell of ${kind} over none, least`, least(times.cell) - least(times.none), 'ms'),
  ]
}

/** Milliseconds from the call until the program in the cell runs. */
async function startAgent({ base, sprintDir, kind }, number, sandbox) {
  const { superviseProcess } = await import(new URL('platform/processes/supervised-process.js', dist))
  const cwd = join(base, 'project')
  const folder = join(sprintDir, 'attempts', `${kind}-${number}`)
  const driver = { name: 'claude', state: () => ['.claude'], settings: () => ['.claude/settings.json'] }
  const env = { PATH: process.env.PATH, HOME: join(base, 'home') }
  const command = { file: '/bin/sh', args: ['-c', 'date +%s%N >started'], env }
  const startedAt = performance.timeOrigin + performance.now()
  const program = (await sandbox?.around(command, { driver, folder, sprintDir, cwd })) ?? command
  const job = { folder, ...program, cwd, stdin: '', files: {}, mark: folder }
  const quiet = { onOutput: () => {}, overdue: () => undefined, signal: AbortSignal.timeout(60_000) }
  await superviseProcess({ ...job, ...quiet })
  await sandbox?.clear({ folder, sprintDir })
  return Number(readFileSync(join(cwd, 'started'), 'utf8')) / 1e6 - startedAt
}

await printIfMain(import.meta.url, measure)
