import { once } from 'node:events'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { RalphError } from '../../contract/errors.ts'
import type { Tool } from './tool.ts'

/** Offers tools on stdin and stdout until the client goes away. */
export async function serve(
  tools: readonly Tool[],
  about: { readonly version: string; readonly instructions: string },
) {
  const server = new Server(
    { name: 'ralph', version: about.version },
    { capabilities: { tools: {} }, instructions: about.instructions },
  )
  server.setRequestHandler(ListToolsRequestSchema, () => ({
    tools: tools.map(({ name, description, inputSchema }) => ({
      name,
      description,
      inputSchema: { ...inputSchema, type: 'object' as const },
    })),
  }))
  server.setRequestHandler(CallToolRequestSchema, async ({ params }) => {
    const found = tools.find(({ name }) => name === params.name)
    if (!found) return refusal(new RalphError('USAGE', `there is no tool "${params.name}"`))
    return found.call(params.arguments).then(answer, refusal)
  })
  // A file ends and stays open; a pipe that breaks closes without an end.
  const gone = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close')])
  await server.connect(new StdioServerTransport())
  await gone
  await server.close()
}

const answer = (value: unknown) => ({ content: [{ type: 'text' as const, text: JSON.stringify(value, undefined, 2) }] })

/** An error for the model to read, not a breakdown of the connection. */
function refusal(error: unknown) {
  const { code, message, place, hint } =
    error instanceof RalphError
      ? error
      : new RalphError('INTERNAL', error instanceof Error ? error.message : String(error))
  return { ...answer({ error: { code, message, place, hint } }), isError: true }
}
