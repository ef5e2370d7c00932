/** The next turn of the model, independent of the client and its API. */
export type Turn = Answer | Refusal | Fault

export type Answer = {
  readonly text?: string
  readonly calls?: readonly Call[]
  readonly usage?: TokenCounts
}

/** Tools by their purpose: each agent program has its own names for them. */
export type Call =
  | { readonly write: string; readonly content: string }
  | { readonly run: string }
  /** The tool that takes an answer of a given form. */
  | { readonly answer: Readonly<Record<string, unknown>> }

/** An HTTP error; `body` instead of the default one of the API. */
export type Refusal = {
  readonly status: number
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The connection breaks in the middle of an answer, or falls silent. */
export type Fault = { readonly midway: 'drop' | 'hang' }

/** `input` excludes cached tokens. */
export type TokenCounts = { readonly input: number; readonly output: number }

export const defaultUsage: TokenCounts = { input: 100, output: 20 }

/** A final message with a report as Ralph asks for it. */
export const reporting = (report: Readonly<Record<string, unknown>>): Answer => ({
  text: `That is it.\n\n\`\`\`json\n${JSON.stringify(report)}\n\`\`\`\n`,
})
