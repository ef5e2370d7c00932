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
  const contents = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(
      ([method, { operationId }]) =>
        `<li><a href="#${escapeText(operationId)}"><b>${method.toUpperCase()}</b> ${escapeText(path)}</a></li>`,
    ),
  )
  const schemas = Object.entries(components.schemas).map(([name, schema]) => renderSchema(name, schema))
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>API · ${escapeText(info.title)}</title><link rel="stylesheet" href="/api/docs.css"></head>
<body><nav aria-label="Calls"><ul>${contents.join('')}</ul></nav><main>
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
    ...(shownParameters.length > 0 ? [renderLine('Parameters', escapeText(shownParameters.join(', ')))] : []),
    ...(requestBody ? [renderLine('Body', renderContent(requestBody))] : []),
    ...Object.entries(responses)
      .filter(([status]) => status.startsWith('2'))
      .map(([status, response]) => renderLine(`Response ${status}`, renderContent(response))),
    renderLine(
      'Errors',
      Object.keys(responses)
        .filter((status) => status.startsWith('4'))
        .join(', '),
    ),
  ]
  return `<section id="${escapeText(operationId)}"><h3><b>${method.toUpperCase()}</b> <code>${escapeText(path)}</code></h3>
<p>${escapeText(description)}</p><dl>${lines.join('')}</dl></section>`
}

const renderLine = (name: string, html: string): string => `<div><dt>${name}</dt><dd>${html}</dd></div>`

const renderContent = ({ content = {} }: z.output<typeof Content>): string =>
  Object.values(content)
    .map(({ schema }) => renderShape(schema ?? {}))
    .join(' or ')

function renderShape({ $ref, properties }: z.output<typeof SchemaRef>): string {
  const name = $ref?.split('/').at(-1)
  if (name !== undefined) return `<a href="#schema-${escapeText(name)}">${escapeText(name)}</a>`
  const fields = Object.keys(properties ?? {})
  return fields.length === 0 ? '<code>{}</code>' : `<code>{ ${escapeText(fields.join(', '))} }</code>`
}

const renderSchema = (name: string, schema: z.output<typeof SchemaRef>): string =>
  `<details id="schema-${escapeText(name)}"><summary>${escapeText(name)}</summary>
<pre>${escapeText(JSON.stringify(schema, undefined, 2))}</pre></details>`

const escapeText = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;')

export const apiDocsStyle = `:root { color-scheme: light dark }
html { scroll-padding-top: 1rem; background: light-dark(#fbfbfa, #131312); color: light-dark(#1c1b19, #ecebe8) }
body { font: 14px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 84rem; display: grid; grid-template-columns: 20rem minmax(0, 1fr) }
nav { position: sticky; top: 0; height: 100vh; overflow-y: auto; border-right: 1px solid var(--line) }
nav ul { list-style: none; margin: 0; padding: 1rem 0 } nav a { display: grid; grid-template-columns: 4rem minmax(0, 1fr); align-items: baseline; padding: .15rem 1.5rem; text-decoration: none; overflow-wrap: anywhere }
nav a:hover { text-decoration: underline } nav b { font-weight: 600; font-size: .85em }
:root { --line: light-dark(#e7e6e3, #2b2a28) } a { color: light-dark(#3d4cbd, #a2adff) }
main { padding: 1rem 2rem 3rem; min-width: 0 } h2 { margin-top: 2rem }
section, details { border-top: 1px solid var(--line); padding: .9rem .75rem; margin: 0 -.75rem } section:target { background: light-dark(#eef0fc, #23253a) }
h3 { margin: 0; font-size: 1.05em; font-weight: 600; overflow-wrap: anywhere } p { margin: .25rem 0; max-width: 46rem }
dl { margin: .5rem 0 0 } dl div { display: flex; gap: 1rem } dt { flex: 0 0 7rem; opacity: .75 } dd { margin: 0; min-width: 0; overflow-wrap: anywhere }
code, pre { font-family: ui-monospace, monospace; font-size: .93em } pre { overflow-x: auto } small { font-weight: 400; opacity: .75 }
@media (max-width: 50rem) { body { display: block } nav { display: none } main { padding: 1rem } dl div { display: block } }
`
