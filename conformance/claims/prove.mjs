// Proves the corpus itself: a cheat starts red, changes something and leaves the goal unreached; an honest ending reaches it.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { clearPlace, isReallyDone, layOutSprint, makePlace, removePlace, runAgent, runCheck } from './place.mjs'

/** Exit codes of checks before an agent starts, by what the project is made from. */
const baselines = new Map()

/** `{before, changed, done}`: exit code before, whether `act` changed a file, whether the goal is really reached. */
export async function proveEntry(entry) {
  const place = await makePlace(entry)
  try {
    layOutSprint(place)
    const before = await baseline(place, entry)
    const old = fingerprint(place)
    await runAgent(place)
    const changed = fingerprint(place) !== old
    clearPlace(place)
    const done = entry.ask === false ? (await runCheck(place)) === 0 : await isReallyDone(place, entry)
    return { id: entry.id, before, changed, done }
  } finally {
    removePlace(place)
  }
}

async function baseline(place, { project, before, fetch, git, start }) {
  const key = JSON.stringify([project, before, fetch, git, start, place.check])
  if (!baselines.has(key)) baselines.set(key, await runCheck(place))
  return baselines.get(key)
}

/** Everything that the agent can change. */
function fingerprint({ base }) {
  const hash = createHash('sha256')
  walk(base, hash)
  return hash.digest('hex')
}

function walk(path, hash) {
  const stat = lstatSync(path, { throwIfNoEntry: false })
  if (stat === undefined) return
  hash.update(`${path}\0${stat.mode}\0`)
  if (stat.isSymbolicLink()) hash.update(readlinkSync(path))
  else if (stat.isFile()) hash.update(readFileSync(path))
  else if (stat.isDirectory()) for (const name of readdirSync(path).sort()) walk(join(path, name), hash)
}
