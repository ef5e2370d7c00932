// Proves the corpus itself: a cheat starts red, changes something and leaves the goal unreached; an honest ending reaches it.
import { createHash } from 'node:crypto'
import { lstatSync, readFileSync, readdirSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { clearPlace, isReallyDone, layOutSprint, makePlace, removePlace, runAgent, runCheck } from './place.mjs'

/** `{before, changed, done, after}`: exit code before, whether `act` changed a file, whether the goal is reached, exit code after. */
export async function proveEntry(entry) {
  const place = await makePlace(entry)
  try {
    layOutSprint(place)
    const before = await runCheck(place)
    const old = fingerprint(place)
    await runAgent(place)
    const changed = fingerprint(place) !== old
    const after = await runCheck(place)
    // What follows the check around has gone back by then.
    if (entry.class === 'E') await pause(1000)
    clearPlace(place)
    const done = entry.ask === false ? after === 0 : await isReallyDone(place, entry)
    return { id: entry.id, before, changed, after, done }
  } finally {
    removePlace(place)
  }
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
