type CostSummary = {
  readonly costUsd: number | null
  readonly spentUsd?: number | undefined
  readonly costEstimated?: boolean | undefined
}

/** `$0.12`; `≈$0.12` from our price list; if some prices are unknown, the known part or `unpriced`. */
export function formatCost({ costUsd, spentUsd, costEstimated }: CostSummary): string {
  if (costUsd !== null) return `${costEstimated ? '≈' : ''}${formatDollars(costUsd)}`
  return spentUsd ? `${formatDollars(spentUsd)} and an unpriced part` : 'unpriced'
}

/** `$1,234.50`, `<$0.01`. Unknown cost is not zero cost. */
export function formatUsd(usd: number | null | undefined): string {
  if (usd === null || usd === undefined) return 'unpriced'
  return usd > 0 && usd < 0.005 ? '<$0.01' : formatDollars(usd)
}

/** `$0.0123`: of one attempt, which may cost less than a cent. */
export const formatExactUsd = (usd: number | undefined): string =>
  usd === undefined ? 'unpriced' : `$${usd.toFixed(4)}`

/** `$10`, `$2.50`: a limit without trailing zeros. */
export const formatCap = (usd: number): string => formatDollars(usd).replace(/\.00$/, '')

/** `$0.00`, `$1,234.50`. By hand: creating an `Intl.NumberFormat` takes longer than `ralph status` has. */
export const formatDollars = (usd: number): string => `$${usd.toFixed(2).replaceAll(/\B(?=(\d{3})+\.)/g, ',')}`
