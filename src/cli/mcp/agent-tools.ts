import { z } from 'zod'
import { readAttemptSprint, resolveAttemptToken } from '../../agents/supervise/attempt-token.ts'
import { storeMcpReport } from '../../agents/supervise/mcp-report.ts'
import { RalphError } from '../../contract/errors.ts'
import { redactDeep, createRedactor, findEnvSecrets } from '../../contract/secrets/redact.ts'
import type { Io } from '../io/io.ts'
import { loadProgress } from '../sprint/sprint-state.ts'
import { defineTool, type McpTool } from './tool.ts'

const summary = z.string().trim().min(1).describe('what you did in this iteration')
const steps = {
  completedStepIds: z.array(z.string()).optional().describe('ids of the steps that are done'),
  pendingSteps: z
    .array(z.object({ id: z.string().nullable(), prompt: z.string().trim().min(1) }))
    .optional()
    .describe('remaining steps; id null for a new one'),
}

/**
 * Report tools for the agent of one attempt. Every call checks the token, so that reports stop counting when the
 * attempt is over.
 */
export const createAgentTools = (token: string | undefined, env: Io['env']): McpTool[] => [
  defineTool({
    name: 'report_progress',
    description: 'Reports the work of this iteration. The sprint continues with the next iteration.',
    input: z.object({ summary, ...steps }),
    run: (report) => saveToolReport({ token, env }, { goal: { status: 'continue', ...report } }),
  }),
  defineTool({
    name: 'ask_human',
    description: 'Asks the user. The sprint waits for the answer, which will be in the next prompt.',
    input: z.object({
      reason: z.string().trim().min(1).describe('the question, in one sentence'),
      details: z.string().default(''),
      options: z.array(z.string()).optional(),
      default: z.string().optional(),
      ...steps,
    }),
    run: ({ completedStepIds, pendingSteps, ...humanNeeded }) => {
      const report = { status: 'needs-human', summary: humanNeeded.reason, humanNeeded }
      return saveToolReport(
        { token, env },
        { goal: { ...report, ...dropUndefined({ completedStepIds, pendingSteps }) }, phase: report },
      )
    },
  }),
  defineTool({
    name: 'finish',
    description:
      'Claims that the goal, or the phase, is reached. Ralph runs its own checks before it accepts the claim.',
    input: z.object({
      summary,
      evidence: z.string().trim().min(1).describe('the evidence: commands you ran and their output'),
      ...steps,
    }),
    run: ({ evidence, ...claimFields }) => {
      const claim = `${claimFields.summary}\n\nEvidence: ${evidence}`
      return saveToolReport(
        { token, env },
        {
          goal: { status: 'goal-complete', ...claimFields, goalCompleteSummary: claim },
          phase: { status: 'completed', summary: claim },
        },
      )
    },
  }),
]

/** The report format for sprints with a goal and for sprints with phases. */
type ReportForms = {
  readonly goal: Readonly<Record<string, unknown>>
  readonly phase?: Readonly<Record<string, unknown>>
}

type ToolCaller = { readonly token: string | undefined; readonly env: Io['env'] }

/** Redacts the secrets of the agent's environment from the stored report. */
async function saveToolReport({ token, env }: ToolCaller, { goal, phase }: ReportForms) {
  const folder = resolveAttemptToken(token)
  const progress = await loadProgress(readAttemptSprint(folder))
  const report = progress?.phases ? phase : goal
  if (!report) throw new RalphError('USAGE', 'a phase has no steps to report', { hint: 'use finish or ask_human' })
  await storeMcpReport(folder, redactDeep(report, createRedactor(findEnvSecrets(env))))
  return {
    recorded: report['status'],
    next: 'end your turn now; a report in your final message would replace this one',
  }
}

/** Removes fields without a value. */
const dropUndefined = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))
