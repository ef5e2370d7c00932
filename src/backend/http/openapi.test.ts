import { expect, it } from 'vitest'
import { z } from 'zod'
import { listPathIds } from '../../contract/fleet/route.ts'
import { routes } from '../../contract/fleet/routes.ts'
import { buildOpenApi } from './openapi.ts'

const Operation = z.object({
  operationId: z.string(),
  summary: z.string().min(1),
  parameters: z.array(z.object({ name: z.string(), in: z.string(), required: z.boolean() })),
  responses: z.record(z.string(), z.object({ description: z.string() })),
})
const Document = z.object({ openapi: z.literal('3.1.0'), paths: z.record(z.string(), z.record(z.string(), Operation)) })
const { paths } = Document.parse(buildOpenApi('1.2.3'))

it('has every route of the table, once', () => {
  const told = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, { operationId }]) => `${operationId} ${method.toUpperCase()} ${path}`),
  )
  const known = Object.entries(routes).map(([name, { method, path }]) => `${name} ${method} ${path}`)
  expect(told.toSorted()).toEqual(known.toSorted())
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
  const text = JSON.stringify(buildOpenApi('1.2.3'))
  const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, reference]) => reference)
  expect([...new Set(references)].filter((reference) => reference !== '#/components/schemas/Problem')).toEqual([])
})
