export type HookVariables = {
  readonly ITERATION_TRANSCRIPT: string
  readonly SPRINT_ID: string
  readonly ITERATION: string
  readonly PHASE_ID: string
}

/** Longest name first: `$ITERATION` is the beginning of `$ITERATION_TRANSCRIPT`. */
const variable = /\$(ITERATION_TRANSCRIPT|SPRINT_ID|ITERATION|PHASE_ID)\b/g

/** Puts the values in, in one pass: nothing in a value is expanded again, and the environment is never read. */
export function fillHookPrompt(prompt: string, values: HookVariables): string {
  const known = new Map(Object.entries(values))
  return prompt.replace(variable, (name) => known.get(name.slice(1)) ?? name)
}
