import { isNode, LineCounter, parseDocument, type Document } from 'yaml'
import { z } from 'zod'
import { RalphError, type Place, errorMessage } from '../contract/errors.ts'
import { fileObject } from '../contract/file-object.ts'
import { Report } from '../contract/report.ts'

const text = z.string().min(1)
const ms = z.number().min(0)

const ScenarioAction = z.union(
  [
    z.strictObject({ say: text }).transform((action) => ({ type: 'say' as const, text: action.say })),
    z.strictObject({ read: text }).transform((action) => ({ type: 'read' as const, path: action.read })),
    z
      .strictObject({ write: text, content: z.string() })
      .transform((action) => ({ type: 'write' as const, path: action.write, content: action.content })),
    z
      .strictObject({ edit: text, replace: text, with: z.string() })
      .transform((action) => ({ type: 'edit' as const, path: action.edit, from: action.replace, to: action.with })),
    z.strictObject({ delete: text }).transform((action) => ({ type: 'delete' as const, path: action.delete })),
    z.strictObject({ run: text }).transform((action) => ({ type: 'run' as const, command: action.run })),
    z.strictObject({ sleep: ms }).transform((action) => ({ type: 'sleep' as const, ms: action.sleep })),
    z
      .strictObject({ exit: z.int().min(0).max(255) })
      .transform((action) => ({ type: 'exit' as const, code: action.exit })),
    z.strictObject({ hang: z.literal(true) }).transform(() => ({ type: 'hang' as const })),
    z.strictObject({ print: z.string() }).transform((action) => ({ type: 'print' as const, line: action.print })),
    z
      .strictObject({ limit: fileObject({ resetsIn: z.number().min(0).describe('Seconds') }) })
      .transform((action) => ({ type: 'limit' as const, resetsInSeconds: action.limit.resetsIn })),
  ],
  { error: 'expected one action: say, read, write, edit, delete, run, sleep, exit, hang, print or limit' },
)
export type ScenarioAction = z.output<typeof ScenarioAction>

const Patterns = z
  .union([text, z.array(text).min(1)], { error: 'expected a regular expression or a list of them' })
  .transform((when, context) => {
    try {
      return [when].flat().map((source) => new RegExp(source, 'm'))
    } catch (error) {
      context.addIssue({ code: 'custom', message: errorMessage(error) })
      return z.NEVER
    }
  })

/** Validated like a real report, but kept verbatim, so that the agent prints exactly what the scenario says. */
const WrittenReport = z.looseObject({ status: z.string(), summary: z.string() }).superRefine((value, context) => {
  for (const issue of Report.safeParse(value).error?.issues ?? []) context.addIssue({ ...issue })
})

const Turn = z.strictObject({
  when: Patterns.optional().describe(
    'The turn is chosen if all of them match the prompt; a turn without patterns is the fallback',
  ),
  say: text.optional().describe('What the agent says first'),
  do: z.array(ScenarioAction).default([]),
  pace: ms.optional().describe('Pause between events, in milliseconds'),
  report: WrittenReport.optional().describe('The JSON at the end; $STEP stands for the id of the current step'),
})
export type Turn = z.output<typeof Turn>

/** The behaviour of the scripted agent: a list of turns; the prompt alone decides which one plays. */
const Scenario = z
  .strictObject({
    pace: ms.default(100).describe('Pause between events, in milliseconds'),
    turns: z.array(Turn).min(1),
  })
  .superRefine(({ turns }, context) => {
    const [, second] = turns.flatMap((turn, index) => (turn.when === undefined ? [index] : []))
    if (second === undefined) return
    context.addIssue({
      code: 'custom',
      path: ['turns', second],
      message: 'a second turn without `when` is never chosen',
    })
  })
export type Scenario = z.output<typeof Scenario>

/** Parses a scenario file; throws the first mistake with its place. */
export function parseScenario(source: string, file: string): Scenario {
  const lines = new LineCounter()
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false })
  const place = (offset?: number): Place => {
    if (offset === undefined) return { file }
    const { line, col } = lines.linePos(offset)
    return { file, line, column: col }
  }
  const [syntax] = document.errors
  if (syntax) throw new RalphError('INVALID_SCENARIO', syntax.message, { place: place(syntax.pos[0]) })
  const parsed = Scenario.safeParse(document.toJS())
  if (parsed.success) return parsed.data
  const { path, message } = findFirstMistake(parsed.error.issues)
  throw new RalphError('INVALID_SCENARIO', [formatPath(path), message].filter(Boolean).join(': '), {
    place: place(findScenarioOffset(document, path)),
  })
}

type ScenarioMistake = { readonly path: readonly PropertyKey[]; readonly message: string }

/** A union reports every branch: pick the mistake in the branch that fits best, if there is one. */
function findFirstMistake([issue]: readonly z.core.$ZodIssue[]): ScenarioMistake {
  if (!issue) return { path: [], message: 'not a scenario' }
  if (issue.code === 'unrecognized_keys') return { ...issue, path: [...issue.path, issue.keys[0] ?? ''] }
  if (issue.code !== 'invalid_union') return issue
  const [best, next] = issue.errors.toSorted((a, b) => a.length - b.length)
  if (!best || best.length === next?.length) return issue
  const inner = findFirstMistake(best)
  return { ...inner, path: [...issue.path, ...inner.path] }
}

const formatPath = (path: readonly PropertyKey[]): string =>
  path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
    .join('')
    .replace(/^\./, '')

/** The offset of a value; of its parent if the value is missing. */
function findScenarioOffset(document: Document, path: readonly PropertyKey[]): number | undefined {
  for (let depth = path.length; depth >= 0; depth--) {
    const node = document.getIn(path.slice(0, depth), true)
    if (isNode(node) && node.range) return node.range[0]
  }
  return undefined
}
