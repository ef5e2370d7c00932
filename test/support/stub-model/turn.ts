/** What the model does next, whoever asks and in whatever language. */
export type Turn = Answer | Refusal | Fault

export type Answer = {
  readonly text?: string
  readonly calls?: readonly Call[]
  readonly usage?: TokenCounts
}

/** Tools by what they do: each agent program has its own names for them. */
export type Call =
  | { readonly write: string; readonly content: string }
  | { readonly run: string }
  /** The tool that takes an answer of a given form. */
  | { readonly answer: Readonly<Record<string, unknown>> }

/** An HTTP error; `body` instead of the usual one of the API. */
export type Refusal = {
  readonly status: number
  readonly message?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

/** The connection is cut in the middle of an answer, or says no more from there on. */
export type Fault = { readonly midway: 'drop' | 'hang' }

/** `input` without what came from the cache. */
export type TokenCounts = { readonly input: number; readonly output: number }

export const defaultUsage: TokenCounts = { input: 100, output: 20 }

/** A final message with a report as Ralph asks for it. */
export const reporting = (report: Readonly<Record<string, unknown>>): Answer => ({
  text: `That is it.\n\n\`\`\`json\n${JSON.stringify(report)}\n\`\`\`\n`,
})
