import type { CompiledPhase } from '../../contract/phases.ts'

/** A phase, an item, or a part of one. */
export type Unit = { readonly id: string; readonly status: CompiledPhase['status'] }

/** Needs no more work. */
export const isOver = ({ status }: Pick<Unit, 'status'>): boolean => status === 'completed' || status === 'skipped'

export const hasFailed = ({ status }: Pick<Unit, 'status'>): boolean => status === 'failed' || status === 'blocked'

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
const tallies = new WeakMap<readonly Unit[], Tally>()

function tallyOf(units: readonly Unit[]): Tally {
  const known = tallies.get(units)
  if (known) return known
  const made: Tally = {
    positions: new Map(units.map(({ id }, index) => [id, index])),
    over: units.filter(isOver).length,
    failed: units.filter(hasFailed).length,
    firstOpen: openFrom(units, 0),
  }
  tallies.set(units, made)
  return made
}

function openFrom(units: readonly Unit[], start: number): number {
  let index = start
  for (let unit = units[index]; unit && isOver(unit); unit = units[++index]);
  return index
}

export const unitIn = <U extends Unit>(units: readonly U[], id: string | undefined): U | undefined =>
  units[tallyOf(units).positions.get(id ?? '') ?? -1]

export const areOver = (units: readonly Unit[]): boolean => tallyOf(units).over === units.length

export const someFailed = (units: readonly Unit[]): boolean => tallyOf(units).failed > 0

/** Index of the first unfinished unit; undefined if all are finished. */
export function firstOpenIn(units: readonly Unit[]): number | undefined {
  const { firstOpen } = tallyOf(units)
  return firstOpen < units.length ? firstOpen : undefined
}

/** Returns a copy of the list with the unit of that id changed. */
export function replaceIn<U extends Unit>(units: readonly U[], id: string | undefined, change: (unit: U) => U): U[] {
  const tally = tallyOf(units)
  const index = tally.positions.get(id ?? '') ?? -1
  const before = units[index]
  if (!before) return [...units]
  const after = change(before)
  const next = units.with(index, after)
  const difference = (is: (unit: Unit) => boolean) => Number(is(after)) - Number(is(before))
  tallies.set(next, {
    positions: tally.positions,
    over: tally.over + difference(isOver),
    failed: tally.failed + difference(hasFailed),
    firstOpen: index < tally.firstOpen ? openFrom(next, index) : openFrom(next, tally.firstOpen),
  })
  return next
}
