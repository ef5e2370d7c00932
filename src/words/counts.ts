import type { Usage } from '../contract/outcome.ts'

/** `212`, `4.1k`, `1.9M`. */
export function formatCount(count: number): string {
  if (count < 1000) return String(Math.round(count))
  return count < 1_000_000 ? `${(count / 1000).toFixed(1)}k` : `${(count / 1_000_000).toFixed(1)}M`
}

/** `1.2k in, 340 out, 5.6M cached` */
export function formatTokens({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: Usage): string {
  const cached = cacheReadTokens + cacheWriteTokens
  return `${formatCount(inputTokens)} in, ${formatCount(outputTokens)} out${cached > 0 ? `, ${formatCount(cached)} cached` : ''}`
}

export function formatBytes(value: number): string {
  const units = ['B', 'KB', 'MB', 'GB', 'TB']
  const power = Math.min(units.length - 1, Math.floor(Math.log10(Math.max(1, value)) / 3))
  const size = value / 1000 ** power
  const digits = size < 10 ? size.toFixed(1).replace(/\.0$/, '') : String(Math.round(size))
  return `${digits} ${units[power] ?? 'B'}`
}

export const pluralize = (value: number, one: string, many = `${one}s`): string =>
  `${value} ${value === 1 ? one : many}`
