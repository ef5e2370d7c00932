import type { NetworkUse, Walls, WallsUse } from '../../contract/cell.ts'
import type { LiveIteration } from '../../contract/progress.ts'
import { isSameData } from '../core/same-data.ts'
import { setHistory, type Sprint } from '../core/sprint.ts'

/** How many hosts a receipt names. */
const maxHosts = 100
/** How many kinds of walls a sprint records; more would mean that every run had different ones. */
const maxWalls = 50

/** Records the walls around a program once per kind, for the result of the sprint. */
export function recordWalls(sprint: Sprint, around: string, use: WallsUse | undefined): Sprint {
  if (!use) return sprint
  const { hosts: _hosts, ...kind } = use
  const walls: Walls = { around, ...kind }
  const known = sprint.history.walls ?? []
  if (known.length >= maxWalls || known.some((each) => isSameData(each, walls))) return sprint
  return setHistory(sprint, { walls: [...known, walls] })
}

/** Adds the hosts that an attempt asked for to the receipt of its iteration. */
export function mergeHosts(live: LiveIteration, use: WallsUse | undefined): LiveIteration {
  if (!use?.hosts) return live
  const hosts: NetworkUse = {
    ...mergeNames('allowed', live.hosts, use.hosts),
    ...mergeNames('refused', live.hosts, use.hosts),
    ...mergeNames('private', live.hosts, use.hosts),
  }
  return Object.keys(hosts).length === 0 ? live : { ...live, hosts }
}

function mergeNames(name: keyof NetworkUse, before: NetworkUse | undefined, now: NetworkUse): NetworkUse {
  const all = [...new Set([...(before?.[name] ?? []), ...(now[name] ?? [])])].slice(0, maxHosts)
  return all.length === 0 ? {} : { [name]: all }
}
