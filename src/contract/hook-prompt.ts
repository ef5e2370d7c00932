/** What a hook prompt can refer to as `$NAME` or `${NAME}`. The longest name first: one is the beginning of another. */
export const hookVariables = ['ITERATION_TRANSCRIPT', 'SPRINT_ID', 'ITERATION', 'PHASE_ID'] as const

export type HookVariables = Readonly<Record<(typeof hookVariables)[number], string>>

const names = hookVariables.join('|')

/** `$ITERATION_$PHASE_ID` is two variables, `$ITERATIONS` and `$ITERATION_COUNT` are none. */
const known = new RegExp(`\\$(?:\\{(${names})\\}|(${names})(?![A-Za-z0-9]|_[A-Za-z0-9]))`, 'g')

/** Puts the values in, in one pass: nothing in a value is expanded again, and the environment is never read. */
export function fillHookPrompt(prompt: string, values: HookVariables): string {
  const table = new Map<string, string>(Object.entries(values))
  return prompt.replace(known, (whole, braced?: string, bare?: string) => table.get(braced ?? bare ?? '') ?? whole)
}

/** What looks like a variable of a hook prompt but is none. */
export function unknownHookVariables(prompt: string): string[] {
  const left = prompt.replace(known, ' ')
  return [...new Set(left.match(/\$(?:\{[A-Z][A-Z0-9_]*\}|[A-Z][A-Z0-9_]*)/g))]
}
