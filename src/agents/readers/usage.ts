import { noUsage, type Usage } from '../../contract/outcome.ts'

export const addTokenUsage = (a: Usage, b: Usage): Usage => ({
  inputTokens: a.inputTokens + b.inputTokens,
  outputTokens: a.outputTokens + b.outputTokens,
  cacheReadTokens: a.cacheReadTokens + b.cacheReadTokens,
  cacheWriteTokens: a.cacheWriteTokens + b.cacheWriteTokens,
})

export const sumUsage = (all: readonly Usage[]): Usage => all.reduce(addTokenUsage, noUsage)

/** The usage since `earlier`, never below zero. */
export const subtractUsage = (total: Usage, earlier: Usage): Usage => ({
  inputTokens: Math.max(0, total.inputTokens - earlier.inputTokens),
  outputTokens: Math.max(0, total.outputTokens - earlier.outputTokens),
  cacheReadTokens: Math.max(0, total.cacheReadTokens - earlier.cacheReadTokens),
  cacheWriteTokens: Math.max(0, total.cacheWriteTokens - earlier.cacheWriteTokens),
})
