import { expect, it } from 'vitest'
import { createClient } from './client.ts'

const agentId = '0197a000-0000-7000-8000-000000000001'

/** Records the requests and answers each with this response. */
function createTestClient(status: number, body: unknown) {
  const requests: { readonly url: string; readonly init: RequestInit | undefined }[] = []
  const fetch = async (url: unknown, init?: RequestInit) => {
    requests.push({ url: String(url), init })
    return Response.json(body, { status })
  }
  return { asked: requests, client: createClient({ baseUrl: 'http://here', token: 't', fetch }) }
}

it('puts ids into the path, the rest into query or body, and sends its token', async () => {
  const { asked, client } = createTestClient(200, { items: [] })
  await client.listEvents({ sprintId: 'a/b', limit: 5, search: 'x y' })
  await client
    .movePrompt({ agentId, promptId: 'p', before: null }, { idempotencyKey: 'k', revision: 3 })
    .catch(() => {})
  expect(asked.map(({ url, init }) => [init?.method, url, init?.body])).toEqual([
    ['GET', 'http://here/api/sprints/a%2Fb/events?limit=5&search=x+y', undefined],
    ['POST', `http://here/api/agents/${agentId}/prompts/p/move`, '{"before":null}'],
  ])
  expect(asked[1]?.init?.headers).toMatchObject({
    authorization: 'Bearer t',
    'idempotency-key': 'k',
    'if-match': '"3"',
    'content-type': 'application/json',
  })
})

it('throws the error that the backend threw', async () => {
  const problem = { type: 'about:blank', title: 'the agent is busy', status: 409, code: 'AGENT_BUSY', hint: 'wait' }
  await expect(createTestClient(409, problem).client.interruptAgent({ agentId })).rejects.toMatchObject({
    code: 'AGENT_BUSY',
    message: 'the agent is busy',
    hint: 'wait',
  })
})

it('distinguishes an unreachable backend from an unreachable machine', async () => {
  const gone = createClient({ baseUrl: 'http://here', fetch: () => Promise.reject(new Error('ECONNREFUSED')) })
  await expect(gone.me({})).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' })
  const problem = { type: 'about:blank', title: 'no', status: 503, code: 'MACHINE_UNREACHABLE' }
  await expect(createTestClient(503, problem).client.detectChecks({ agentId })).rejects.toMatchObject({
    code: 'MACHINE_UNREACHABLE',
  })
})

it('refuses a response that does not match the route', async () => {
  await expect(createTestClient(200, { items: 5 }).client.listMachines({})).rejects.toThrow(/items/)
})

it('repeats a call once if the backend closed the idle connection, with the same key, so that it takes effect once', async () => {
  const keys: (string | null)[] = []
  const closed = Object.assign(new TypeError('fetch failed'), {
    cause: Object.assign(new Error(), { code: 'UND_ERR_SOCKET' }),
  })
  const client = createClient({
    baseUrl: 'http://here',
    fetch: async (_, init) => {
      keys.push(new Headers(init?.headers).get('idempotency-key'))
      if (keys.length === 1) throw closed
      return Response.json({ items: 5 })
    },
  })
  await expect(client.queuePrompt({ agentId, prompt: 'p' })).rejects.not.toMatchObject({ code: 'BACKEND_UNREACHABLE' })
  expect(keys).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), keys[0]])

  keys.length = 0
  await expect(client.me({})).rejects.not.toMatchObject({ code: 'BACKEND_UNREACHABLE' })
  expect(keys).toEqual([null, null])
})

it('repeats no call that may have taken effect and has no key', async () => {
  let sent = 0
  const closed = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' })
  const client = createClient({ baseUrl: 'http://here', fetch: () => (sent++, Promise.reject(closed)) })
  await expect(client.changeAgent({ agentId, name: 'n' })).rejects.toMatchObject({ code: 'BACKEND_UNREACHABLE' })
  expect(sent).toBe(1)
})
