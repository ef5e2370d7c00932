/** Variables that `prompts:` of a sprint with phases can use as `{{name}}`. Indices start at 1; a variable without a value is empty. */
export const promptVariables = [
  'sprint-id',
  'iteration',
  'phase.id',
  'phase.index',
  'phase.total',
  'step.id',
  'step.prompt',
  'step.index',
  'step.total',
  'sub-phase.id',
  'sub-phase.index',
  'sub-phase.total',
  'retry-count',
  'error',
] as const

export type PromptVariables = Readonly<Partial<Record<(typeof promptVariables)[number], string>>>

const variable = /\{\{\s*([A-Za-z][\w-]*(?:\.[\w-]+)*)\s*\}\}/g
const known: ReadonlySet<string> = new Set(promptVariables)

/** One pass: values are never expanded again, and unknown variables stay unchanged. */
export function fillPromptPart(text: string, values: PromptVariables): string {
  const table = new Map<string, string>(Object.entries(values))
  return text.replace(variable, (whole, name: string) => (known.has(name) ? (table.get(name) ?? '') : whole))
}

/** Returns the unknown variables as written. */
export function findUnknownPromptVariables(text: string): string[] {
  const found = [...text.matchAll(variable)].flatMap(([whole, name = '']) => (known.has(name) ? [] : [whole]))
  return [...new Set(found)]
}

/** Variables that a hook prompt can use as `$NAME` or `${NAME}`. Longest name first, because one is a prefix of another. */
export const hookVariables = ['ITERATION_TRANSCRIPT', 'SPRINT_ID', 'ITERATION', 'PHASE_ID', 'ITEM_ID'] as const

export type HookVariables = Readonly<Record<(typeof hookVariables)[number], string>>

const hookNames = hookVariables.join('|')

/** `$ITERATION_$PHASE_ID` is two variables; `$ITERATIONS` and `$ITERATION_COUNT` are not variables. */
const knownHookVariables = new RegExp(`\\$(?:\\{(${hookNames})\\}|(${hookNames})(?![A-Za-z0-9]|_[A-Za-z0-9]))`, 'g')

/** Fills in the values in one pass: values are never expanded again, and the environment is never read. */
export function fillHookPrompt(prompt: string, values: HookVariables): string {
  const table = new Map<string, string>(Object.entries(values))
  return prompt.replace(
    knownHookVariables,
    (whole, braced?: string, bare?: string) => table.get(braced ?? bare ?? '') ?? whole,
  )
}

/** Returns the words that look like variables of a hook prompt but are unknown. */
export function findUnknownHookVariables(prompt: string): string[] {
  const left = prompt.replace(knownHookVariables, ' ')
  return [...new Set(left.match(/\$(?:\{[A-Z][A-Z0-9_]*\}|[A-Z][A-Z0-9_]*)/g))]
}
