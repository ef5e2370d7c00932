import { z } from 'zod'
import { AgentEvent, SprintEvent } from '../../contract/events.ts'
import { Agent, AgentWorkspace, Conversation, FleetRow, SprintGlance } from '../../contract/fleet/agent.ts'
import { StoredEvent } from '../../contract/fleet/event.ts'
import { Machine } from '../../contract/fleet/machine.ts'
import { ProblemDetails } from '../../contract/fleet/problem.ts'
import { AgentPrompt } from '../../contract/fleet/prompt.ts'
import { SprintQuestion } from '../../contract/fleet/question.ts'
import { FleetSprint, SprintDiff } from '../../contract/fleet/sprint.ts'
import { ApiToken, AuditEntry, Me, User } from '../../contract/fleet/user.ts'
import { Delivery, Webhook } from '../../contract/fleet/webhook.ts'
import { IterationRecord, LiveIteration, Progress } from '../../contract/progress.ts'
import { listPathIds, type Route } from '../../contract/fleet/route.ts'
import { routes } from '../../contract/fleet/routes.ts'

/** The OpenAPI 3.1 document of the whole API, generated from the routes. */
export function buildOpenApi(version: string): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {}
  const schemas: Record<string, unknown> = { Problem: toJsonSchema(ProblemDetails, {}) }
  for (const [name, route] of Object.entries<Route>(routes)) {
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeOperation(name, route, schemas) }
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
      schemas,
      responses: refusals,
    },
  }
}

/** Schemas that many operations share, by their names in the document. */
const shared = z.registry<{ readonly id: string }>()
for (const [id, schema] of Object.entries({
  Agent,
  AgentEvent,
  AgentPrompt,
  AgentWorkspace,
  ApiToken,
  AuditEntry,
  Conversation,
  Delivery,
  FleetRow,
  FleetSprint,
  IterationRecord,
  LiveIteration,
  Machine,
  Me,
  Progress,
  SprintDiff,
  SprintEvent,
  SprintGlance,
  SprintQuestion,
  StoredEvent,
  User,
  Webhook,
}))
  shared.add(schema, { id })

type SharedSchemas = Record<string, unknown>

const problem = (description: string) => ({
  description,
  content: { 'application/problem+json': { schema: { $ref: '#/components/schemas/Problem' } } },
})

const refusals = {
  Invalid: problem('The request is not valid; `detail` says which field and why'),
  Unauthenticated: problem('No valid token or session'),
  Forbidden: problem('The caller may not do this'),
  NotFound: problem('It does not exist, or the caller may not see it'),
  Conflict: problem('The current state does not allow it, or it has changed'),
  TooMany: problem('Too many requests; `Retry-After` says when to try again'),
  Refused: problem('Refused'),
}

const refusalStatus = {
  '400': 'Invalid',
  '401': 'Unauthenticated',
  '403': 'Forbidden',
  '404': 'NotFound',
  '409': 'Conflict',
  '429': 'TooMany',
} as const satisfies Record<string, keyof typeof refusals>

/** The refusals that a route can answer with. */
function listRefusals(route: Route): Record<string, unknown> {
  const absent = new Set([
    ...(route.needs === 'public' ? ['401', '403'] : []),
    ...(listPathIds(route.path).length === 0 ? ['404'] : []),
    ...(route.method === 'GET' ? ['409'] : []),
  ])
  return Object.fromEntries(
    Object.entries(refusalStatus)
      .filter(([status]) => !absent.has(status))
      .map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  )
}

const needsWords: Readonly<Record<Route['needs'], string>> = {
  public: 'Needs no sign-in.',
  'signed-in': 'Needs a signed-in user.',
  read: 'Needs read access to the agent.',
  write: 'Needs write access to the agent.',
  owner: 'Needs to own the agent.',
  admin: 'Needs an administrator.',
}

function describeOperation(name: string, route: Route, schemas: SharedSchemas) {
  const stream = name === 'events'
  const machine = { run: ' Needs a grant to run agents on its machine.', manage: ' Needs to manage the machine.' }
  return {
    operationId: name,
    summary: route.summary,
    description: `${route.summary}. ${needsWords[route.needs]}${route.machine === undefined ? '' : machine[route.machine]}`,
    tags: [routeTag(route)],
    ...(route.needs === 'public' && { security: [] }),
    'x-needs': route.needs,
    parameters: describeParameters(route, schemas),
    ...(route.body && {
      requestBody: { required: true, content: { 'application/json': { schema: toJsonSchema(route.body, schemas) } } },
    }),
    responses: {
      [route.creates === true ? '201' : '200']: {
        description: route.creates === true ? 'Created' : 'Done',
        content: {
          [stream ? 'text/event-stream' : 'application/json']: { schema: toJsonSchema(route.response, schemas) },
        },
      },
      ...listRefusals(route),
      default: { $ref: '#/components/responses/Refused' },
    },
  }
}

function describeParameters(route: Route, schemas: SharedSchemas) {
  const ids = listPathIds(route.path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } }))
  const query = route.query instanceof z.ZodObject ? Object.entries(route.query.shape) : []
  const parameters = query.map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: toJsonSchema(schema, schemas),
  }))
  const key = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 200 } }
  const match = { name: 'If-Match', in: 'header', required: false, schema: { type: 'string' } }
  return [
    ...ids,
    ...parameters,
    ...(route.method === 'POST' ? [key] : []),
    ...(route.revision === 'wanted' ? [match] : []),
  ]
}

const Definitions = z.record(z.string(), z.unknown())

/** Moves what is shared into the components of the document. */
function toJsonSchema(schema: z.ZodType, schemas: SharedSchemas): unknown {
  const created = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any', metadata: shared })
  const { $schema: _, $defs, ...rest } = Definitions.parse(moveReferences(created))
  for (const [name, definition] of Object.entries(Definitions.parse($defs ?? {}))) {
    const { id: _id, ...own } = Definitions.parse(definition)
    schemas[name] ??= own
  }
  const { id, ...own } = rest
  if (typeof id !== 'string') return rest
  schemas[id] ??= own
  return { $ref: `#/components/schemas/${id}` }
}

const moveReferences = (schema: unknown): unknown =>
  JSON.parse(JSON.stringify(schema).replaceAll('"#/$defs/', '"#/components/schemas/'))

const routeTag = ({ path }: Route): string => path.split('/')[2] ?? 'other'

const listTags = (all: readonly Route[]) => [...new Set(all.map(routeTag))].toSorted().map((name) => ({ name }))
