import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { buildOpenApi } from '../../src/backend/http/openapi.ts'

const file = fileURLToPath(new URL('../../docs/api.txt', import.meta.url))

/**
 * `WRITE_API=1 npx vitest run test/fleet/openapi.test.ts` updates the file, so that changes of the API show up in
 * review.
 */
it('matches docs/api.txt', () => {
  const text = formatOutline(buildOpenApi('0'))
  if (process.env['WRITE_API']) writeFileSync(file, text)
  expect(readFileSync(file, 'utf8')).toBe(text)
})

/** Each schema is listed with its fields and a checksum. */
function formatOutline(document: unknown): string {
  const { paths, components } = Document.parse(document)
  const lines = Object.entries(components.schemas).map(([name, schema]) => `schema ${name} ${describeShape(schema)}`)
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { operationId, parameters, requestBody, responses, 'x-needs': needs }] of Object.entries(
      methods,
    )) {
      lines.push(`${method.toUpperCase()} ${path} (${operationId}, needs ${needs})`)
      for (const { name, in: place, schema } of parameters) lines.push(`  ${place} ${name}: ${describeShape(schema)}`)
      for (const { schema } of Object.values(requestBody?.content ?? {})) lines.push(`  body ${describeShape(schema)}`)
      const [[kind, answer] = ['none', undefined]] = Object.entries(
        (responses['200'] ?? responses['201'])?.content ?? {},
      )
      lines.push(`  gives ${kind} ${describeShape(answer?.schema)}`)
    }
  }
  return `${lines.join('\n')}\n`
}

function describeShape(schema: unknown): string {
  const { properties = {}, required = [], type = 'any', $ref } = Shape.parse(schema ?? {})
  if ($ref !== undefined) return $ref.split('/').at(-1) ?? ''
  const fields = Object.keys(properties).map((name) => (required.includes(name) ? name : `${name}?`))
  const sum = createHash('sha256')
    .update(JSON.stringify(schema ?? null))
    .digest('hex')
    .slice(0, 8)
  return `${fields.length === 0 ? String(type) : `{ ${fields.join(', ')} }`} #${sum}`
}

const Shape = z.object({
  properties: z.record(z.string(), z.unknown()).optional(),
  required: z.array(z.string()).optional(),
  type: z.unknown().optional(),
  $ref: z.string().optional(),
})
const Content = z.object({ content: z.record(z.string(), z.object({ schema: z.unknown().optional() })).optional() })

const Operation = z.object({
  operationId: z.string(),
  summary: z.string(),
  parameters: z.array(
    z.object({ name: z.string(), in: z.string(), required: z.boolean(), schema: z.unknown().optional() }),
  ),
  requestBody: Content.optional(),
  responses: z.record(z.string(), Content),
  'x-needs': z.string().optional(),
})
const Document = z.object({
  paths: z.record(z.string(), z.record(z.string(), Operation)),
  components: z.object({ schemas: z.record(z.string(), z.unknown()) }).default({ schemas: {} }),
})

/** Problems of an OpenAPI document. */
function lintDocument(document: unknown): string[] {
  const { paths } = Document.parse(document)
  const wrong: string[] = []
  const ids = new Set<string>()
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, { operationId, summary, parameters }] of Object.entries(methods)) {
      const place = `${method} ${path}`
      if (summary.trim() === '') wrong.push(`${place}: no summary`)
      if (ids.has(operationId)) wrong.push(`${place}: duplicate ${operationId}`)
      ids.add(operationId)
      const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name)
      const declared = parameters.filter((one) => one.in === 'path' && one.required).map(({ name }) => name)
      if (inPath.join() !== declared.join())
        wrong.push(`${place}: ${inPath.join()} in the path, ${declared.join()} declared`)
    }
  }
  const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference)
  return [
    ...wrong,
    ...[...new Set(references)].filter((one) => !resolves(document, one)).map((one) => `${one}: missing`),
  ]
}

function resolves(document: unknown, reference: string): boolean {
  let at: unknown = document
  for (const name of reference.split('/').slice(1)) {
    if (typeof at !== 'object' || at === null) return false
    at = Object.entries(at).find(([key]) => key === name)?.[1]
  }
  return reference.startsWith('#/') && at !== undefined
}

it('passes the lint', () => {
  expect(lintDocument(buildOpenApi('0'))).toEqual([])
})

it('is refused by the lint if it is wrong', () => {
  const bad = { operationId: 'a', summary: ' ', parameters: [], responses: { default: { $ref: '#/components/none' } } }
  expect(lintDocument({ paths: { '/x/{id}': { get: bad, post: { ...bad, summary: 'x' } } } })).toEqual([
    'get /x/{id}: no summary',
    'get /x/{id}: id in the path,  declared',
    'post /x/{id}: duplicate a',
    'post /x/{id}: id in the path,  declared',
    '#/components/none: missing',
  ])
})
