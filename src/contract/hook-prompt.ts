/** Variables that a hook prompt can use as `$NAME` or `${NAME}`. Longest name first, because one is a prefix of another. */
export const hookVariables = ['ITERATION_TRANSCRIPT', 'SPRINT_ID', 'ITERATION', 'PHASE_ID', 'ITEM_ID'] as const

export type HookVariables = Readonly<Record<(typeof hookVariables)[number], string>>

const names = hookVariables.join('|')

/** `$ITERATION_$PHASE_ID` is two variables; `$ITERATIONS` and `$ITERATION_COUNT` are not variables. */
const known = new RegExp(`\\$(?:\\{(${names})\\}|(${names})(?![A-Za-z0-9]|_[A-Za-z0-9]))`, 'g')

/** Fills in the values in one pass: values are never expanded again, and the environment is never read. */
export function fillHookPrompt(prompt: string, values: HookVariables): string {
  const table = new Map<string, string>(Object.entries(values))
  return prompt.replace(known, (whole, braced?: string, bare?: string) => table.get(braced ?? bare ?? '') ?? whole)
}

/** Returns the words that look like variables of a hook prompt but are unknown. */
export function findUnknownHookVariables(prompt: string): string[] {
  const left = prompt.replace(known, ' ')
  return [...new Set(left.match(/\$(?:\{[A-Z][A-Z0-9_]*\}|[A-Z][A-Z0-9_]*)/g))]
}
