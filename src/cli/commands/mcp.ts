import { attemptOf, tokenVariable } from '../../agents/supervise/attempt-token.ts'
import { packageVersion } from '../assets.ts'
import { command } from '../io/command.ts'
import { agentTools } from '../mcp/agent-tools.ts'
import { personTools } from '../mcp/person-tools.ts'

export const mcp = command({
  name: 'mcp',
  summary: 'Offer sprints to an assistant as an MCP server, on stdin and stdout',
  options: {
    attempt: { type: 'boolean', description: `tools for the agent of one attempt, which ${tokenVariable} names` },
    json: { type: 'boolean', description: 'print the tools as JSON and end' },
  },
  details: `For a person's own assistant: the sprints of the current folder. Inside a sprint there are only the tools of its attempt,
with or without --attempt: an agent cannot touch other sprints.`,
  examples: ['claude mcp add ralph -- ralph mcp', 'ralph mcp --attempt'],
  async run({ values }, io) {
    const token = io.env[tokenVariable]
    const inside = values.attempt === true || token !== undefined
    const tools = inside ? agentTools(token, io.env) : personTools(io)
    if (values.json === true) {
      const about = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }))
      io.print(JSON.stringify({ tools: about }))
      return 0
    }
    if (inside) attemptOf(token)
    const { serve } = await import('../mcp/serve.ts')
    await serve(tools, { version: packageVersion(), instructions: inside ? forAgents : forPeople })
    return 0
  },
})

const forPeople = `Ralph runs a coding agent again and again on a goal, until checks that it runs itself say that the goal is reached.
A run takes minutes to hours: start it, then look at its status now and then.`

const forAgents = `You are the agent of one attempt of a sprint. Use one of these tools at the end of your turn instead of the JSON block:
report_progress when there is more to do, ask_human when you cannot go on, finish when the goal is reached.`
