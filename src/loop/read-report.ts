import { Report } from '../contract/report.ts'

export type ReadReport =
  | { readonly kind: 'report'; readonly report: Report }
  | { readonly kind: 'malformed'; readonly reason: string }

/** The older way to say goal-complete. Our own prompts never contain it; what a person wrote gets a blank before the colon. */
const olderForm = /^[ \t]*RALPH_COMPLETE ?:[ \t]*(\S.*)$/gm

/** Backticks after an opening fence of backticks make it code within a line. */
const fenceLine = /^\s*(`{3,}(?!`)(?!.*`)|~{3,})\s*(\S*)/

/**
 * Finds the report in an agent's final message: the driver's structured output, else the last fenced block that is a valid
 * report, else the older one-line form. What stands in the prompt, blanks aside, is an echo and reports nothing.
 */
export function readReport(finalMessage: string, prompt: string, structured?: unknown): ReadReport {
  if (structured !== undefined && structured !== null) {
    const parsed = Report.safeParse(structured)
    if (parsed.success) return { kind: 'report', report: parsed.data }
  }
  const isEcho = echoOf(prompt)
  const blocks = fencedBlocks(finalMessage).filter((block) => !isEcho(block))
  let problem: string | undefined
  for (const block of blocks.toReversed()) {
    const read = readBlock(block)
    if (read.kind === 'report') return read
    problem ??= read.reason
  }
  const older = [...finalMessage.matchAll(olderForm)].findLast(([line]) => !isEcho(line))?.[1]?.trim()
  if (older) return { kind: 'report', report: claim(older) }
  if (finalMessage.trim() === '') return { kind: 'malformed', reason: 'the final message is empty' }
  return { kind: 'malformed', reason: problem ?? 'the final message has no ```json block with a report' }
}

/** Whether a text stands in the prompt, blanks aside. */
export function echoOf(prompt: string): (text: string) => boolean {
  const asked = withoutBlanks(prompt)
  return (text) => asked.includes(withoutBlanks(text))
}

const withoutBlanks = (text: string): string => text.replaceAll(/\s+/g, '')

/** The texts of the outermost fenced blocks; what is fenced inside another block is quoted, not said. */
export function fencedBlocks(text: string): string[] {
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

function readBlock(block: string): ReadReport {
  let value: unknown
  try {
    value = JSON.parse(block)
  } catch (error) {
    return {
      kind: 'malformed',
      reason: `the last fenced block is not JSON: ${error instanceof Error ? error.message : ''}`,
    }
  }
  const parsed = Report.safeParse(value)
  if (parsed.success) return { kind: 'report', report: parsed.data }
  const problems = parsed.error.issues
    .slice(0, 3)
    .map(({ path, message }) => `${path.join('.') || 'report'}: ${message}`)
  return { kind: 'malformed', reason: `the last fenced block is not a report: ${problems.join('; ')}` }
}

const claim = (summary: string): Report => ({
  status: 'goal-complete',
  summary,
  goalCompleteSummary: summary,
  completedStepIds: [],
  pendingSteps: [],
})
