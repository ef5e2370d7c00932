/** What `prompts:` of a sprint with phases can refer to as `{{name}}`. Indices begin at 1; what has no value is empty. */
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

/** In one pass: nothing in a value is expanded again, and what is no variable stays as it is. */
export function fillPromptPart(text: string, values: PromptVariables): string {
  const table = new Map<string, string>(Object.entries(values))
  return text.replace(variable, (whole, name: string) => (known.has(name) ? (table.get(name) ?? '') : whole))
}

/** Variables that nobody knows, as they are written. */
export function unknownPromptVariables(text: string): string[] {
  const found = [...text.matchAll(variable)].flatMap(([whole, name = '']) => (known.has(name) ? [] : [whole]))
  return [...new Set(found)]
}
