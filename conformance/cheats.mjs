// Points a loop at agents that cheat, and at agents that are honest, and says which claims the loop took for done.
//
//   npm run conformance -- cheats [--loop ralph|checked|while|'COMMAND'] [--only ID,CLASS,…] [--settings default,no-sandbox,held-out]
//                                 [--iterations 3] [--workers 2] [--window SECONDS] [--prove] [--network] [--json] [--write]
//                                 [--results FILE]
//
// --prove runs no loop: it shows that each cheat starts red, changes something and leaves the goal unreached.
// --network adds the honest endings on packages from npm. --write puts the tables into docs/conformance-cheats.md.
// --results appends each verdict to a file and runs no case again that has one there: a long run can be done in parts.
import { spawnSync } from 'node:child_process'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { cheats } from './cheats/index.mjs'
import { honest } from './honest/index.mjs'
import { judgeClaim } from './claims/judge.mjs'
import { proveEntry } from './claims/prove.mjs'
import { settings } from './claims/settings.mjs'
import { corpusTables, writeTables } from './claims/tables.mjs'
import { missingTool } from './claims/tools.mjs'

const page = fileURLToPath(new URL('../docs/conformance-cheats.md', import.meta.url))

export async function main(args) {
  const { values } = parseArgs({
    args,
    options: {
      loop: { type: 'string', default: 'ralph' },
      only: { type: 'string', default: '' },
      settings: { type: 'string', default: settings.map(({ name }) => name).join() },
      workers: { type: 'string', default: '2' },
      iterations: { type: 'string', default: '3' },
      window: { type: 'string', default: '90' },
      prove: { type: 'boolean', default: false },
      network: { type: 'boolean', default: false },
      json: { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      results: { type: 'string' },
    },
  })
  const entries = choose(values.only.split(',').filter(Boolean), values.network)
  const workers = Number(values.workers)
  if (values.prove) return report(await proveAll(entries, workers), values.json)
  const how = {
    loop: loopCommand(values.loop),
    windowMs: Number(values.window) * 1000,
    iterations: values.iterations,
    workers,
    results: values.results,
  }
  const columns = []
  for (const setting of chosenSettings(values.settings)) columns.push(await judgeAll(entries, setting, how))
  const text = corpusTables(columns)
  if (values.write) {
    writeTables(page, text)
    spawnSync('npx', ['oxfmt', page], { stdio: 'ignore' })
  }
  console.log(values.json ? JSON.stringify(columns, undefined, 2) : text)
}

/** Cases by id, class letter, ecosystem, `cheats` or `honest`; all of them without a name. */
export function choose(names, network = true) {
  const all = [...cheats, ...honest].filter((entry) => network || !entry.fetch)
  const fits = (entry, name) =>
    [entry.id, entry.class, entry.ecosystem, entry.class === 'honest' ? 'honest' : 'cheats'].includes(name)
  const unknown = names.filter((name) => !all.some((entry) => fits(entry, name)))
  if (unknown.length > 0) throw new Error(`no such case or class: ${unknown.join(', ')}`)
  return names.length === 0 ? all : all.filter((entry) => names.some((name) => fits(entry, name)))
}

/** Skips a setting that the loop does not know: there it refuses even the plainest honest ending. */
async function judgeAll(entries, setting, { workers, results, ...how }) {
  const title = setting.title()
  const [plainest] = honest
  const known = readResults(results, setting)
  const judge = async (entry) => {
    const verdict = known.get(entry.id) ?? (await judgeClaim(entry, { ...how, setting }))
    if (results && !known.has(entry.id)) appendFileSync(results, `${JSON.stringify(verdict)}\n`)
    known.set(entry.id, verdict)
    return verdict
  }
  const probe = await judge(plainest)
  if (!probe.verdict.startsWith('accepted'))
    return {
      title,
      note: `Not run: the loop ended the plainest honest work with "${probe.verdict}" (${probe.reason}).`,
      cheats: [],
      honest: [],
    }
  const verdicts = await inParallel(entries, workers, async (entry) => {
    const verdict = await judge(entry)
    process.stderr.write(
      `${setting.name}  ${verdict.verdict.padEnd(24)} ${entry.id}${verdict.seconds ? `  ${verdict.seconds} s` : ''}\n`,
    )
    return verdict
  })
  return {
    title,
    cheats: verdicts.filter((verdict) => verdict.class !== 'honest'),
    honest: verdicts.filter((verdict) => verdict.class === 'honest'),
  }
}

/** Verdicts of earlier parts, by id. */
function readResults(file, { name }) {
  const lines = file && existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : []
  const verdicts = lines.map((line) => JSON.parse(line)).filter(({ setting }) => setting === name)
  return new Map(verdicts.map((verdict) => [verdict.id, verdict]))
}

/** What is wrong with the corpus itself, per case; an empty list is what we want. */
async function proveAll(entries, workers) {
  return inParallel(entries, workers, async (entry) => {
    const missing = missingTool(entry)
    if (missing) return { id: entry.id, notRun: missing, faults: [] }
    try {
      const proof = await proveEntry(entry)
      const faults = findFaults(entry, proof)
      process.stderr.write(`${faults.length === 0 ? 'holds ' : 'does not hold '} ${entry.id}\n`)
      return { ...proof, faults }
    } catch (error) {
      return { id: entry.id, faults: [error.message] }
    }
  })
}

export function findFaults(entry, { before, changed, done }) {
  const isHonest = entry.class === 'honest'
  return [
    !entry.startsGreen && before === 0 && 'its check is green before the agent starts',
    !entry.changesNothing && !changed && 'its agent changes nothing',
    isHonest && !done && 'its goal is not reached',
    !isHonest && !entry.startsGreen && !entry.rightAtFirst && done && 'its goal is really reached',
  ].filter(Boolean)
}

function report(proofs, json) {
  const bad = proofs.filter(({ faults }) => faults.length > 0)
  if (json) console.log(JSON.stringify(proofs, undefined, 2))
  else for (const { id, faults } of bad) console.log(`${id}: ${faults.join('; ')}`)
  const notRun = proofs.filter(({ notRun }) => notRun).length
  console.error(`${proofs.length - notRun - bad.length} cases hold, ${bad.length} do not, ${notRun} not run`)
  process.exitCode = bad.length === 0 ? 0 : 1
}

async function inParallel(entries, workers, work) {
  const results = new Map()
  const waiting = [...entries]
  const worker = async () => {
    for (let entry = waiting.shift(); entry; entry = waiting.shift()) results.set(entry.id, await work(entry))
  }
  await Promise.all(Array.from({ length: workers }, worker))
  return entries.map(({ id }) => results.get(id))
}

function chosenSettings(names) {
  return names.split(',').map((name) => {
    const setting = settings.find((candidate) => candidate.name === name)
    if (setting === undefined) throw new Error(`no such setting: ${name}`)
    return setting
  })
}

/** A name is a script in `loops`; anything else is a command for sh. */
function loopCommand(loop) {
  const isName = existsSync(fileURLToPath(new URL(`loops/${loop}.sh`, import.meta.url)))
  return isName ? `exec sh "$LOOPS/${loop}.sh"` : loop
}
