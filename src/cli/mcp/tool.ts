import { z } from 'zod'
import { RalphError } from '../../contract/errors.ts'

/** A tool that a client of `ralph mcp` can call. */
export interface McpTool {
  readonly name: string
  readonly description: string
  readonly inputSchema: Readonly<Record<string, unknown>>
  /** Resolves with the result for the client. Rejects with a RalphError. */
  readonly call: (input: unknown) => Promise<unknown>
}

type McpToolDeclaration<S extends z.ZodType> = {
  readonly name: string
  readonly description: string
  readonly input: S
  readonly run: (input: z.output<S>) => Promise<unknown>
}

export const defineTool = <S extends z.ZodType>({ name, description, input, run }: McpToolDeclaration<S>): McpTool => ({
  name,
  description,
  inputSchema: z.toJSONSchema(input, { io: 'input' }),
  async call(args) {
    const read = input.safeParse(args ?? {})
    if (!read.success) throw new RalphError('USAGE', `${name}: ${describeIssues(read.error)}`)
    return run(read.data)
  },
})

const describeIssues = ({ issues }: z.ZodError): string =>
  issues.map(({ path, message }) => `${path.join('.') || 'input'}: ${message}`).join('; ')
