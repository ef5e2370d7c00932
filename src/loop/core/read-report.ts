import { errorMessage } from '../../contract/errors.ts'
import type { z } from 'zod'
import { findCompletion } from './find-completion.ts'
import { dropNullFields } from './report-schema.ts'

type MalformedReport = { readonly kind: 'malformed'; readonly reason: string }

export type ReportResult<R> = { readonly kind: 'report'; readonly report: R } | MalformedReport

/** Schema of the reports of one mode; `older` parses a line in the old form, if the mode supports it. */
export type ReportFormat<R> = { readonly schema: z.ZodType<R>; readonly older?: (summary: string) => R }

/** An agent's last message, and the structured output that its driver extracted. */
export type FinalMessage = {
  readonly text: string
  readonly structured?: unknown
  /** The agent was asked only for a report in a given form, so the message itself may be the report. */
  readonly structuredOnly?: boolean
}

/** Backticks after an opening fence of backticks make it inline code. */
const fenceLine = /^\s*(`{3,}(?!`)(?!.*`)|~{3,})\s*(\S*)/

const tryParseJson = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/**
 * Finds the report in an agent's final message: the driver's structured output, else the last fenced block that is a valid
 * report, else the old one-line form. Text that also occurs in the prompt, ignoring blanks, is an echo and never a report.
 */
export function findReport<R>(
  { schema, older }: ReportFormat<R>,
  { text, structured, structuredOnly: held }: FinalMessage,
  prompt: string,
): ReportResult<R> {
  const isEcho = createEchoTest(prompt)
  const formal = structured ?? (held === true && !isEcho(text) ? tryParseJson(text) : undefined)
  if (formal !== undefined) {
    const parsed = schema.safeParse(dropNullFields(formal))
    if (parsed.success) return { kind: 'report', report: parsed.data }
  }
  const blocks = listFencedBlocks(text).filter((block) => !isEcho(block))
  let problem: string | undefined
  for (const block of blocks.toReversed()) {
    const read = readBlock(block, schema)
    if (read.kind === 'report') return read
    problem ??= read.reason
  }
  // Our own prompts never contain this form, but goals and workflows may ask for it.
  const summary = older && findCompletion(text, prompt)
  if (older && summary !== undefined) return { kind: 'report', report: older(summary) }
  if (text.trim() === '') return { kind: 'malformed', reason: 'the final message is empty' }
  return { kind: 'malformed', reason: problem ?? 'the final message has no ```json block with a report' }
}

/** Returns a function that tests whether a text occurs in the prompt, ignoring blanks. */
export function createEchoTest(prompt: string): (text: string) => boolean {
  const plainPrompt = removeBlanks(prompt)
  return (text) => plainPrompt.includes(removeBlanks(text))
}

const removeBlanks = (text: string): string => text.replaceAll(/\s+/g, '')

/** Returns the contents of the outermost fenced blocks; nested fences are quotations. */
export function listFencedBlocks(text: string): string[] {
  const blocks: string[] = []
  let open: { readonly fence: string; readonly json: boolean; readonly lines: string[] } | undefined
  for (const line of text.split('\n')) {
    const [, fence = '', info = ''] = fenceLine.exec(line) ?? []
    if (!open) {
      if (fence) open = { fence, json: info === '' || info.toLowerCase() === 'json', lines: [] }
    } else if (fence.startsWith(open.fence) && info === '') {
      if (open.json) blocks.push(open.lines.join('\n'))
      open = undefined
    } else {
      open.lines.push(line)
    }
  }
  if (open?.json) blocks.push(open.lines.join('\n'))
  return blocks
}

function readBlock<R>(block: string, schema: z.ZodType<R>): ReportResult<R> {
  let value: unknown
  try {
    value = JSON.parse(block)
  } catch (error) {
    return {
      kind: 'malformed',
      reason: `the last fenced block is not JSON: ${errorMessage(error)}`,
    }
  }
  const parsed = schema.safeParse(value)
  if (parsed.success) return { kind: 'report', report: parsed.data }
  const problems = parsed.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'report'}: ${message}`)
  return { kind: 'malformed', reason: `the last fenced block is not a report: ${problems.join('; ')}` }
}
