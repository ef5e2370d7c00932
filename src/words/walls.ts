import type { Walls } from '../contract/cell.ts'

/** What of a sprint ran without a cell, or with the whole network; undefined if nothing did. */
export function describeOpenWalls(walls: readonly Walls[] | undefined): string | undefined {
  const parts = (walls ?? []).flatMap(({ around, cell, network }) => {
    if (cell === 'none') return [`${around} ran without a cell, as the user`]
    return network === 'open' ? [`${around} ran with an open network`] : []
  })
  return parts.length === 0 ? undefined : [...new Set(parts)].join('; ')
}
