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
