import type { CompiledPhase } from '../../../contract/phases.ts'

/** A phase, an item, or a part of one. */
export type WorkUnit = { readonly id: string; readonly status: CompiledPhase['status'] }

/** Needs no more work. */
export const isFinished = ({ status }: Pick<WorkUnit, 'status'>): boolean =>
  status === 'completed' || status === 'skipped'

export const hasFailed = ({ status }: Pick<WorkUnit, 'status'>): boolean => status === 'failed' || status === 'blocked'

type Tally = {
  readonly positions: ReadonlyMap<string, number>
  readonly over: number
  readonly failed: number
  /** Index of the first unfinished unit, or the length of the list. */
  readonly firstOpen: number
}

/**
 * Cached facts about a list, so that a sprint with thousands of items does not scan all of them for every fact. Lists are
 * immutable; when one is replaced, `replaceIn` derives the tally of the new list.
 */
const tallies = new WeakMap<readonly WorkUnit[], Tally>()

function getTally(units: readonly WorkUnit[]): Tally {
  const known = tallies.get(units)
  if (known) return known
  const made: Tally = {
    positions: new Map(units.map(({ id }, index) => [id, index])),
    over: units.filter(isFinished).length,
    failed: units.filter(hasFailed).length,
    firstOpen: skipFinished(units, 0),
  }
  tallies.set(units, made)
  return made
}

function skipFinished(units: readonly WorkUnit[], start: number): number {
  let index = start
  for (let unit = units[index]; unit && isFinished(unit); unit = units[++index]);
  return index
}

export const findUnit = <U extends WorkUnit>(units: readonly U[], id: string | undefined): U | undefined =>
  units[getTally(units).positions.get(id ?? '') ?? -1]

export const areAllFinished = (units: readonly WorkUnit[]): boolean => getTally(units).over === units.length

export const hasAnyFailed = (units: readonly WorkUnit[]): boolean => getTally(units).failed > 0

/** Index of the first unfinished unit; undefined if all are finished. */
export function findFirstOpen(units: readonly WorkUnit[]): number | undefined {
  const { firstOpen } = getTally(units)
  return firstOpen < units.length ? firstOpen : undefined
}

/** Returns a copy of the list with the unit of that id changed. */
export function replaceUnit<U extends WorkUnit>(
  units: readonly U[],
  id: string | undefined,
  change: (unit: U) => U,
): U[] {
  const tally = getTally(units)
  const index = tally.positions.get(id ?? '') ?? -1
  const before = units[index]
  if (!before) return [...units]
  const after = change(before)
  const next = units.with(index, after)
  const difference = (is: (unit: WorkUnit) => boolean) => Number(is(after)) - Number(is(before))
  tallies.set(next, {
    positions: tally.positions,
    over: tally.over + difference(isFinished),
    failed: tally.failed + difference(hasFailed),
    firstOpen: index < tally.firstOpen ? skipFinished(next, index) : skipFinished(next, tally.firstOpen),
  })
  return next
}
