import { once } from 'node:events'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js'
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { RalphError, errorMessage } from '../../contract/errors.ts'
import type { McpTool } from './tool.ts'

/** Serves tools on stdin and stdout until the client disconnects. */
export async function serveMcpTools(
  tools: readonly McpTool[],
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
    if (!found) return toolError(new RalphError('USAGE', `unknown tool "${params.name}"`))
    return found.call(params.arguments).then(toolResult, toolError)
  })
  // A file reaches its end but stays open; a broken pipe closes without an end event.
  const gone = Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close')])
  await server.connect(new StdioServerTransport())
  await gone
  await server.close()
}

const toolResult = (value: unknown) => ({
  content: [{ type: 'text' as const, text: JSON.stringify(value, undefined, 2) }],
})

/** An error result for the model, not a protocol error. */
function toolError(error: unknown) {
  const { code, message, place, hint } =
    error instanceof RalphError ? error : new RalphError('INTERNAL', errorMessage(error))
  return { ...toolResult({ error: { code, message, place, hint } }), isError: true }
}
