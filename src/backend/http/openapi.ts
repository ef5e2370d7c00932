import { z } from 'zod'
import { ProblemDetails } from '../../contract/fleet/problem.ts'
import { listPathIds, type Route } from '../../contract/fleet/route.ts'
import { routes } from '../../contract/fleet/routes.ts'

/** The OpenAPI 3.1 document of the whole API, generated from the routes. */
export function buildOpenApi(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, route] of Object.entries<Route>(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeOperation(name, route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Ralph Mode', version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags: listTags(Object.values(routes)),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'ralph-session' },
      },
      schemas: { Problem: toJsonSchema(ProblemDetails, 'input') },
    },
  }
}

function describeOperation(name: string, route: Route) {
  const stream = name === 'events'
  return {
    operationId: name,
    summary: route.summary,
    tags: [routeTag(route)],
    ...(route.needs === 'nobody' && { security: [] }),
    'x-needs': route.needs,
    parameters: describeParameters(route),
    ...(route.body && {
      requestBody: { required: true, content: { 'application/json': { schema: toJsonSchema(route.body, 'input') } } },
    }),
    responses: {
      '200': {
        description: 'Done',
        content: {
          [stream ? 'text/event-stream' : 'application/json']: { schema: toJsonSchema(route.response, 'input') },
        },
      },
      default: {
        description: 'Refused',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

function describeParameters(route: Route) {
  const ids = listPathIds(route.path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  const query = route.query instanceof z.ZodObject ? Object.entries(route.query.shape) : []
  const asked = query.map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: toJsonSchema(schema, 'input'),
  }))
  const key = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 200 } }
  const match = { name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } }
  return [...ids, ...asked, ...(route.method === 'POST' ? [key] : []), ...(route.revision === 'wanted' ? [match] : [])]
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

const routeTag = ({ path }: Route): string => path.split('/')[2] ?? 'other'

const listTags = (all: readonly Route[]) => [...new Set(all.map(routeTag))].toSorted().map((name) => ({ name }))
