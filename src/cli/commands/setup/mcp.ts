import { resolveAttemptToken, tokenVariable } from '../../../agents/supervise/attempt-token.ts'
import { packageVersion } from '../../io/assets.ts'
import { defineCommand } from '../../io/command.ts'
import { createAgentTools } from '../../mcp/agent-tools.ts'
import { createUserTools } from '../../mcp/user-tools.ts'

export const mcp = defineCommand({
  name: 'mcp',
  summary: 'Serve sprints to an assistant as an MCP server on stdin and stdout',
  options: {
    attempt: {
      type: 'boolean',
      description: `serve the tools for the agent of one attempt, named by ${tokenVariable}`,
    },
    json: { type: 'boolean', description: 'print the tools as JSON and exit' },
  },
  details: `For your own assistant: it serves the sprints of the current folder. Inside a sprint it serves only the tools of the current
attempt, with or without --attempt: an agent cannot reach other sprints.`,
  examples: ['claude mcp add ralph -- ralph mcp', 'ralph mcp --attempt'],
  async run({ values }, io) {
    const token = io.env[tokenVariable]
    const inside = values.attempt === true || token !== undefined
    const tools = inside ? createAgentTools(token, io.env) : createUserTools(io)
    if (values.json === true) {
      const about = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
      io.print(JSON.stringify({ tools: about }))
      return 0
    }
    if (inside) resolveAttemptToken(token)
    const { serveMcpTools: serve } = await import('../../mcp/serve.ts')
    await serve(tools, { version: packageVersion(), instructions: inside ? agentInstructions : userInstructions })
    return 0
  },
})

const userInstructions = `Ralph runs a coding agent in a loop until checks that Ralph runs itself confirm that the goal is reached.
A run takes minutes to hours: start it, then check its status from time to time.`

const agentInstructions = `You are the agent of one attempt of a sprint. At the end of your turn, call one of these tools instead of printing the JSON block:
report_progress when there is more to do, ask_human when you are blocked, finish when the goal is reached.`
