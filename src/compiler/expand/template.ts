/** A text with `{{object.property}}` placeholders, parsed once so that it can be filled for thousands of items. */
export type PromptTemplate = readonly (string | TemplateVariable)[]

export type TemplateVariable = { readonly raw: string; readonly object: string; readonly path: readonly string[] }

/** Objects that a template can refer to, by name. */
export type TemplateScope = ReadonlyMap<string, Readonly<Record<string, unknown>>>

const variable = /\{\{\s*([A-Za-z_][\w-]*)((?:\.[\w-]+)*)\s*\}\}/g

export function parseTemplate(text: string): PromptTemplate {
  const parts: (string | TemplateVariable)[] = []
  let end = 0
  for (const match of text.matchAll(variable)) {
    if (match.index > end) parts.push(text.slice(end, match.index))
    const [raw, object = '', path = ''] = match
    parts.push({ raw, object, path: path.split('.').slice(1) })
    end = match.index + raw.length
  }
  if (end < text.length) parts.push(text.slice(end))
  return parts
}

/**
 * One pass: values are never expanded again. A missing property of a known object becomes empty, a variable of an unknown
 * object stays unchanged; both are reported through `onUnknown`.
 */
export function fillPromptTemplate(
  template: PromptTemplate,
  scope: TemplateScope,
  onUnknown: (variable: TemplateVariable) => void,
): string {
  return template
    .map((part) => {
      if (typeof part === 'string') return part
      const object = scope.get(part.object)
      const value = object && part.path.length > 0 ? formatValue(getProperty(object, part.path)) : undefined
      if (value !== undefined) return value
      onUnknown(part)
      return object && part.path.length > 0 ? '' : part.raw
    })
    .join('')
}

function getProperty(object: unknown, path: readonly string[]): unknown {
  let current = object
  for (const name of path) {
    if (typeof current !== 'object' || current === null || !Object.hasOwn(current, name)) return undefined
    current = Reflect.get(current, name)
  }
  return current
}

function formatValue(value: unknown): string | undefined {
  if (value === null || value === undefined) return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
