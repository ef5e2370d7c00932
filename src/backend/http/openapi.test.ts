import { expect, it } from 'vitest'
import { z } from 'zod'
import { listPathIds } from '../../contract/fleet/route.ts'
import { routes } from '../../contract/fleet/routes.ts'
import { buildOpenApi } from './openapi.ts'

const Operation = z.object({
  operationId: z.string(),
  summary: z.string().min(1),
  parameters: z.array(z.object({ name: z.string(), in: z.string(), required: z.boolean() })),
  description: z.string(),
  responses: z.record(z.string(), z.object({ description: z.string().optional() })),
})
const Document = z.object({ openapi: z.literal('3.1.0'), paths: z.record(z.string(), z.record(z.string(), Operation)) })
const Components = z.looseObject({ components: z.record(z.string(), z.record(z.string(), z.unknown())) })
const { paths } = Document.parse(buildOpenApi('1.2.3'))

it('has every route of the table, once', () => {
  const documented = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  )
  const known = Object.entries(routes).map(([name, { method, path }]) => `${name} ${method} ${path}`)
  expect(documented.toSorted()).toEqual(known.toSorted())
})

it('names the ids of every path as parameters', () => {
  for (const [path, methods] of Object.entries(paths)) {
    for (const { parameters } of Object.values(methods)) {
      const named = parameters.filter((parameter) => parameter.in === 'path').map(({ name }) => name)
      expect(named).toEqual(listPathIds(path))
    }
  }
})

it('contains everything it refers to', () => {
  const document = Components.parse(buildOpenApi('1.2.3'))
  const text = JSON.stringify(document)
  const references = new Set([...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference = '']) => reference))
  const known = Object.entries(document.components).flatMap(([kind, parts]) =>
    Object.keys(parts).map((name) => `#/components/${kind}/${name}`),
  )
  expect([...references].filter((reference) => !known.includes(reference))).toEqual([])
})

it('shares its schemas, so that a reader can load it', () => {
  const document = Components.parse(buildOpenApi('1.2.3'))
  expect(JSON.stringify(document).length).toBeLessThan(200_000)
  expect(Object.keys(document.components['schemas'] ?? {})).toEqual(
    expect.arrayContaining(['Agent', 'FleetRow', 'FleetSprint', 'Progress', 'StoredEvent', 'Problem']),
  )
})

it('describes every operation and how it refuses', () => {
  const incomplete = Object.values(paths)
    .flatMap((methods) => Object.values(methods))
    .filter(
      ({ description, responses }) =>
        description.length < 20 || !Object.keys(responses).some((status) => status.startsWith('4')),
    )
  expect(incomplete.map(({ operationId }) => operationId)).toEqual([])
})
