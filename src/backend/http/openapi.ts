import { z } from 'zod'
import { Problem } from '../../contract/fleet/problem.ts'
import { idsIn, type Route } from '../../contract/fleet/route.ts'
import { routes } from '../../contract/fleet/routes.ts'

/** The OpenAPI 3.1 document of the whole API, generated from the routes. */
export function openApi(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, route] of Object.entries<Route>(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: operation(name, route) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Ralph Mode', version, license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ token: [] }, { session: [] }],
    tags: tagsOf(Object.values(routes)),
    paths,
    components: {
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer' },
        session: { type: 'apiKey', in: 'cookie', name: 'ralph-session' },
      },
      schemas: { Problem: schemaOf(Problem, 'input') },
    },
  }
}

function operation(name: string, route: Route) {
  const stream = name === 'events'
  return {
    operationId: name,
    summary: route.summary,
    tags: [tagOf(route)],
    ...(route.needs === 'nobody' && { security: [] }),
    'x-needs': route.needs,
    parameters: parametersOf(route),
    ...(route.body && {
      requestBody: { required: true, content: { 'application/json': { schema: schemaOf(route.body, 'input') } } },
    }),
    responses: {
      '200': {
        description: 'Done',
        content: { [stream ? 'text/event-stream' : 'application/json']: { schema: schemaOf(route.response, 'input') } },
      },
      default: {
        description: 'Refused',
        content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
      },
    },
  }
}

function parametersOf(route: Route) {
  const ids = idsIn(route.path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  const query = route.query instanceof z.ZodObject ? Object.entries(route.query.shape) : []
  const asked = query.map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: schemaOf(schema, 'input'),
  }))
  const key = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 200 } }
  const match = { name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } }
  return [...ids, ...asked, ...(route.method === 'POST' ? [key] : []), ...(route.revision === 'wanted' ? [match] : [])]
}

function schemaOf(schema: z.ZodType, io: 'input' | 'output') {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' })
  return rest
}

const tagOf = ({ path }: Route): string => path.split('/')[2] ?? 'other'

const tagsOf = (all: readonly Route[]) => [...new Set(all.map(tagOf))].toSorted().map((name) => ({ name }))
