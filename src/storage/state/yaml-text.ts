/** Strings that every version of YAML reads as themselves without quotes. */
const plainString = /^[A-Za-z_/][A-Za-z0-9_/.-]*(?: [A-Za-z0-9_/.(),-]+)*$/
const reservedWord = /^(?:true|false|null|yes|no|on|off|y|n|\.inf|\.nan|~)$/i

/** Lines of a literal block must not begin with a blank or contain characters that YAML must escape. */
const literalBlock =
  /^(?![ \n])(?:[\t\n\u0020-\u007e\u00a0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd]|[\ud800-\udbff][\udc00-\udfff])*[^\s]\n?$/

/**
 * Writes JSON-like data as block YAML, about ten times as fast as a general writer. Text that is not obviously harmless is
 * double-quoted, which for JSON's escapes means the same in YAML. The input must be immutable: the text of an object in a list
 * is cached.
 */
export function formatYaml(value: object, indent = ''): string {
  return Array.isArray(value) ? formatYamlList(value, indent) : formatYamlMap(value, indent)
}

/** Items of a long list whose bytes are cached together. */
const itemsPerRun = 128

/**
 * The same as bytes. Of a long list in the map, only runs of items with a change are joined and encoded again: with 10,000 steps
 * that takes longer than everything else an iteration does.
 */
export function formatYamlBytes(map: object, header = ''): Buffer {
  const parts = Object.entries(map).flatMap(([key, value]: [string, unknown]) =>
    Array.isArray(value) && value.length > itemsPerRun && isCollection(value)
      ? [Buffer.from(`${formatYamlKey(key)}\n`), ...formatRuns(value)]
      : [Buffer.from(formatYamlMap({ [key]: value }, ''))],
  )
  return Buffer.concat([Buffer.from(header), ...parts])
}

type Run = { readonly items: readonly unknown[]; readonly bytes: Buffer }

/** By the first item of the run. */
const cachedRuns = new WeakMap<object, Run>()

function formatRuns(items: readonly unknown[]): Buffer[] {
  return Array.from({ length: Math.ceil(items.length / itemsPerRun) }, (_, index) => {
    const run = items.slice(index * itemsPerRun, (index + 1) * itemsPerRun)
    const [first] = run
    const known = typeof first === 'object' && first !== null ? cachedRuns.get(first) : undefined
    if (known?.items.length === run.length && known.items.every((item, n) => item === run[n])) return known.bytes
    const bytes = Buffer.from(formatYamlList(run, '  '))
    if (typeof first === 'object' && first !== null) cachedRuns.set(first, { items: run, bytes })
    return bytes
  })
}

const cachedTexts = new WeakMap<object, string>()

function formatYamlList(items: readonly unknown[], indent: string): string {
  const dash = `${indent}- `
  let text = ''
  for (const item of items) {
    const known = typeof item === 'object' && item !== null ? cachedTexts.get(item) : undefined
    // The object may have been cached at another depth.
    text += known?.startsWith(dash) ? known : formatYamlItem(item, dash, `${indent}  `)
  }
  return text
}

/** An item starts on the line of its dash. */
function formatYamlItem(item: unknown, dash: string, indent: string): string {
  if (!isCollection(item)) return `${dash}${formatYamlScalar(item, indent)}\n`
  const text = Array.isArray(item)
    ? `${dash}\n${formatYamlList(item, indent)}`
    : dash + formatYamlMap(item, indent).slice(indent.length)
  cachedTexts.set(item, text)
  return text
}

function formatYamlMap(map: object, indent: string): string {
  let text = ''
  for (const [key, value] of Object.entries(map)) {
    if (value === undefined) continue
    const name = `${indent}${formatYamlKey(key)}`
    text += isCollection(value)
      ? `${name}\n${Array.isArray(value) ? formatYamlList(value, `${indent}  `) : formatYamlMap(value, `${indent}  `)}`
      : `${name} ${formatYamlScalar(value, `${indent}  `)}\n`
  }
  return text
}

const formatYamlKey = (key: string): string =>
  `${plainString.test(key) && !reservedWord.test(key) ? key : JSON.stringify(key)}:`

const isCollection = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && Object.values(value).some((entry) => entry !== undefined)

function formatYamlScalar(value: unknown, indent: string): string {
  if (typeof value === 'string') return formatYamlString(value, indent)
  if (Array.isArray(value)) return '[]'
  return typeof value === 'object' && value !== null ? '{}' : JSON.stringify(value)
}

function formatYamlString(text: string, indent: string): string {
  if (plainString.test(text) && !reservedWord.test(text)) return text
  if (!text.includes('\n') || !literalBlock.test(text)) return JSON.stringify(text)
  const block = text.endsWith('\n') ? text.slice(0, -1) : text
  return `|${text.endsWith('\n') ? '' : '-'}\n${block.replaceAll(/^(?=.)/gm, indent)}`
}
