import type { Usage } from '../../contract/outcome.ts'
import type { Price } from '../../contract/settings.ts'

/**
 * List prices in USD per million tokens, as of 2026-11-15; the first pattern that matches the model's name wins. A cost that
 * the provider reports takes precedence, and so does `prices:` in SPRINT.yaml or ~/.ralph/config.yaml.
 */
const listPrices: readonly (readonly [RegExp, Price])[] = [
  [/opus/, { input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 }],
  [/sonnet/, { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 }],
  [/haiku/, { input: 1, output: 5, cacheRead: 0.1, cacheWrite: 1.25 }],
  [/gpt-5.*mini/, { input: 0.25, output: 2, cacheRead: 0.025, cacheWrite: 0 }],
  [/gpt-5/, { input: 1.25, output: 10, cacheRead: 0.125, cacheWrite: 0 }],
  [/gemini.*flash-lite/, { input: 0.1, output: 0.4, cacheRead: 0.01, cacheWrite: 0 }],
  [/gemini.*flash/, { input: 0.3, output: 2.5, cacheRead: 0.03, cacheWrite: 0 }],
  [/gemini.*pro/, { input: 1.25, output: 10, cacheRead: 0.125, cacheWrite: 0 }],
]

/** Cost of the tokens by list price; undefined, not zero, for an unknown model. */
export function estimateUsd(
  model: string | undefined,
  usage: Usage,
  overrides: Readonly<Record<string, Price>> = {},
): number | undefined {
  const name = model?.toLowerCase()
  if (name === undefined) return undefined
  const override = Object.entries(overrides).find(([part]) => name.includes(part.toLowerCase()))?.[1]
  const price = override ?? listPrices.find(([pattern]) => pattern.test(name))?.[1]
  if (!price) return undefined
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  const millionths =
    inputTokens * price.input +
    outputTokens * price.output +
    cacheReadTokens * price.cacheRead +
    cacheWriteTokens * price.cacheWrite
  return millionths / 1_000_000
}
