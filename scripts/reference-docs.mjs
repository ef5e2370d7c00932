// Writes docs/reference/*.md from the JSON Schemas and the error codes, so that they are never out of date. With --check: reports whether they are.
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { errorPage } from './error-reference.mjs'

const at = (path) => fileURLToPath(new URL(`../${path}`, import.meta.url))

const pages = [
  {
    name: 'sprint-yaml.md',
    schema: 'sprint.schema.json',
    title: 'SPRINT.yaml',
    about: [
      'What you write to start a sprint. [The guide](../guides/sprint-yaml.md) has examples and explains precedence.',
      'Only `workflow` is required; in ralph mode also `goal`.',
    ],
  },
  {
    name: 'workflow.md',
    schema: 'workflow.schema.json',
    title: 'Workflows',
    about: [
      'A file in `.claude/workflows`. [The guide](../guides/sprint-yaml.md#workflows) says what workflows are for, and',
      '[phases](../guides/phases.md) how to use them. SPRINT.yaml wins over its workflow.',
    ],
  },
  {
    name: 'progress-yaml.md',
    schema: 'progress.schema.json',
    title: 'PROGRESS.yaml',
    about: [
      'The whole state of a sprint, written by Ralph. [State and files](../concepts/state.md) says what you may edit.',
      'Timestamps are UTC in ISO 8601.',
    ],
  },
]

const written = [
  ...pages.map(({ schema, ...page }) => [
    page.name,
    renderPage(JSON.parse(readFileSync(at(`schemas/${schema}`), 'utf8')), page),
  ]),
  ['errors.md', errorPage()],
]

const stale = written.filter(([name, text]) => describeField(at(`docs/reference/${name}`)) !== text)
if (process.argv.includes('--check')) {
  if (stale.length > 0) {
    console.error(
      `docs/reference/ is out of date (${stale.map(([name]) => name).join(', ')}); write it with: npm run generate`,
    )
    process.exitCode = 1
  }
} else for (const [name, text] of stale) writeFileSync(at(`docs/reference/${name}`), text)

function renderPage(schema, { title, about }) {
  const places = new Map()
  const [first, ...rest] = listSections(schema, '', places)
  return [
    `# ${title}`,
    '',
    '<!-- Written by scripts/reference-docs.mjs from the schemas; npm run generate -->',
    '',
    ...about,
    '',
    'A name that ends in `[]` is a list, and its table shows one entry; `<name>` stands for a name of your own. **Bold** fields are required.',
    '',
    ...table(first, places),
    ...rest.flatMap((section) => [
      `## \`${section.path}\``,
      '',
      ...(section.schema.description ? [sentence(section.schema.description), ''] : []),
      ...table(section, places),
    ]),
  ].join('\n')
}

/** An object, then the objects inside it, in order of appearance. Each shape once: `places` lists where. */
function listSections(schema, path, places) {
  const shape = readShape(schema)
  if (places.has(shape)) return []
  places.set(shape, path)
  const inner = Object.entries(schema.properties ?? {}).flatMap(([name, field]) =>
    objectsIn(field, path === '' ? name : `${path}.${name}`).flatMap((found) =>
      listSections(found.schema, found.path, places),
    ),
  )
  return [{ path, schema }, ...inner]
}

function readShape({ properties, required }) {
  return JSON.stringify([properties, required])
}

/** The objects that a field may contain, directly, in a list or under names. Leaves out the second spelling of a group. */
function objectsIn(field, path, about = field.description) {
  if (field.properties)
    return Object.keys(field.properties).length === 0 ? [] : [{ path, schema: { ...field, description: about } }]
  if (field.type === 'array' && field.items) return objectsIn(field.items, `${path}[]`, about)
  if (field.type === 'object' && field.additionalProperties)
    return objectsIn(field.additionalProperties, `${path}.<name>`, about)
  const found = (field.anyOf ?? []).flatMap((one) => objectsIn(one, path, about))
  return found.filter(({ schema }) => !Object.keys(schema.properties).some((name) => /[A-Z]/.test(name)))
}

function table({ schema, path }, places) {
  const required = new Set(schema.required ?? [])
  const rows = Object.entries(schema.properties).map(([name, field]) => {
    const [inner] = objectsIn(field, path === '' ? name : `${path}.${name}`)
    const shown = required.has(name) && field.default === undefined ? `**\`${name}\`**` : `\`${name}\``
    const link = inner ? `[${shown}](#${anchor(places.get(readShape(inner.schema)))})` : shown
    return `| ${link} | ${cell(describeType(field))} | ${cell(sentence(field.description ?? ''))}${byDefault(field)} |`
  })
  const long = Object.entries(schema.properties).filter(([, field]) => isLongList(field))
  const notes = long.flatMap(([name, { enum: values }]) => [
    `\`${name}\` is one of ${values.map((value) => `\`${value}\``).join(', ')}.`,
    '',
  ])
  return ['| field | type | meaning |', '| --- | --- | --- |', ...rows, '', ...notes]
}

/** Too many values for a cell: they are listed below the table. */
function isLongList({ enum: values }) {
  return values !== undefined && values.join('`, `').length > 100
}

function byDefault({ default: value }) {
  if (value === undefined) return ''
  return ` Default: \`${cell(Array.isArray(value) ? `[${value.join(', ')}]` : String(value))}\`.`
}

function describeType(field) {
  if (field.const !== undefined) return `\`${field.const}\``
  if (isLongList(field)) return `one of ${field.enum.length} words, see below`
  if (field.enum) return field.enum.map((value) => `\`${value}\``).join(', ')
  if (field.anyOf) return [...new Set(field.anyOf.map(describeType))].join(' or ')
  if (field.type === 'array') return `list of ${describeType(field.items ?? {})}`
  if (field.pattern?.includes('(ms|s|m|h)')) return 'duration'
  if (field.format === 'date-time') return 'timestamp'
  if (field.format === 'uri') return 'URL'
  if (field.type === 'object' && field.additionalProperties && !field.properties) return 'map'
  const types = { string: 'text', integer: 'whole number', boolean: 'true or false', null: 'nothing', object: 'group' }
  return [field.type ?? 'any']
    .flat()
    .map((type) => types[type] ?? type)
    .join(' or ')
}

function sentence(text) {
  const ended = text === '' || /[.!?]$/.test(text) ? text : `${text}.`
  return ended.replace(/^[a-z](?=[a-z]* )/, (letter) => letter.toUpperCase())
}

/** As GitHub names anchors. */
function anchor(path) {
  return path
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, '')
    .trim()
    .replaceAll(' ', '-')
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
}

function describeField(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
