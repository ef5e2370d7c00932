import { z } from 'zod'

const Named = z.object({ name: z.string(), in: z.string() })
const SchemaRef = z.looseObject({
  $ref: z.string().optional(),
  properties: z.record(z.string(), z.unknown()).optional(),
})
const Content = z.looseObject({
  content: z.record(z.string(), z.looseObject({ schema: SchemaRef.optional() })).optional(),
})
const Operation = z.looseObject({
  operationId: z.string(),
  description: z.string(),
  parameters: z.array(Named),
  requestBody: Content.optional(),
  responses: z.record(z.string(), Content),
})
const Document = z.looseObject({
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.looseObject({ schemas: z.record(z.string(), SchemaRef) }),
})

/** The API as a page for people: one file without scripts, so it works offline and under our content security policy. */
export function renderApiDocs(openApi: unknown): string {
  const { info, paths, components } = Document.parse(openApi)
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => renderOperation(method, path, operation)),
  )
  const schemas = Object.entries(components.schemas).map(([name, schema]) => renderSchema(name, schema))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · ${escapeText(info.title)}</title><link rel="stylesheet" href="/api/docs.css"></head>
<body><main>
<h1>${escapeText(info.title)} API <small>${escapeText(info.version)}</small></h1>
<p>Send a token as <code>Authorization: Bearer …</code>. Errors are <code>application/problem+json</code>. The machine-readable
document is <a href="/api/openapi.json">/api/openapi.json</a>; the npm package has a typed client, <code>ralph-mode/client</code>.</p>
<h2>Calls</h2>${operations.join('\n')}
<h2>Schemas</h2>${schemas.join('\n')}
</main></body></html>
`
}

function renderOperation(method: string, path: string, operation: z.output<typeof Operation>): string {
  const { operationId, description, parameters, requestBody, responses } = operation
  const shownParameters = parameters
    .filter((each) => each.in !== 'header')
    .map(({ name, in: place }) => `${name} (${place})`)
  const lines = [
    ...(shownParameters.length > 0 ? [`<p>Parameters: ${escapeText(shownParameters.join(', '))}</p>`] : []),
    ...(requestBody ? [`<p>Body: ${renderContent(requestBody)}</p>`] : []),
    ...Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, response]) => `<p>Answers ${status}: ${renderContent(response)}</p>`),
    `<p>Refuses with ${Object.keys(responses)
      .filter((status) => status.startsWith('4'))
      .join(', ')}</p>`,
  ]
  return `<section id="${escapeText(operationId)}"><h3><b>${method.toUpperCase()}</b> <code>${escapeText(path)}</code></h3>
<p>${escapeText(description)}</p>${lines.join('')}</section>`
}

const renderContent = ({ content = {} }: z.output<typeof Content>): string =>
  Object.values(content)
    .map(({ schema }) => renderShape(schema ?? {}))
    .join(' or ')

function renderShape({ $ref, properties }: z.output<typeof SchemaRef>): string {
  const name = $ref?.split('/').at(-1)
  if (name !== undefined) return `<a href="#schema-${escapeText(name)}">${escapeText(name)}</a>`
  const fields = Object.keys(properties ?? {})
  return fields.length === 0 ? 'a value' : `<code>{ ${escapeText(fields.join(', '))} }</code>`
}

const renderSchema = (name: string, schema: z.output<typeof SchemaRef>): string =>
  `<details id="schema-${escapeText(name)}"><summary>${escapeText(name)}</summary>
<pre>${escapeText(JSON.stringify(schema, undefined, 2))}</pre></details>`

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export const apiDocsStyle = `:root { color-scheme: light dark }
body { font: 15px/1.5 system-ui, sans-serif; margin: 0 }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem }
section, details { border-top: 1px solid color-mix(in srgb, currentColor 20%, transparent); padding: .75rem 0 }
h3 { margin: 0; font-weight: 400 } p { margin: .25rem 0 } code, pre { font-family: ui-monospace, monospace; font-size: .9em }
pre { overflow-x: auto } small { font-weight: 400; opacity: .75 }
`
