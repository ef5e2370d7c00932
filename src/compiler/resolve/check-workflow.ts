import { isGoalDriven } from '../../contract/way.ts'
import type { Phase } from '../../contract/phases.ts'
import type { Workflow } from '../../contract/workflow.ts'
import { unknownText } from '../parse/decode.ts'
import type { AddDiagnostic } from '../parse/diagnostics.ts'
import { checkId } from './check-id.ts'
import { errorAt, type ParsedFile, warningAt, getRawValue } from '../parse/parse.ts'

/** Checks a workflow without any other file. */
export function checkWorkflow(
  { value, parsed }: { readonly value: Workflow; readonly parsed: ParsedFile },
  report: AddDiagnostic,
): void {
  if (value.schemaVersion !== undefined && !/^[12](\.0)?$/.test(String(value.schemaVersion)))
    report(
      warningAt(
        { parsed, path: ['schema-version'] },
        { code: 'INVALID_FIELD', message: `schema-version ${value.schemaVersion} is unknown; read as 2.0` },
      ),
    )
  if (isGoalDriven(value)) checkPrompts(value, parsed, report)
  else checkPhases(value, parsed, report)
}

function checkPrompts(value: Workflow, parsed: ParsedFile, report: AddDiagnostic): void {
  const absent = [
    ...(value.goalPrompt === undefined ? ['goal-prompt'] : []),
    ...(value.reflectionPrompt === undefined ? ['reflection-prompt'] : []),
  ]
  if (absent.length === 0) return
  report(
    warningAt(
      { parsed, path: ['mode'] },
      {
        code: 'RECOMMENDED_PROMPT',
        message: `The workflow has no ${absent.join(' and no ')}`,
        hint: 'optional, but the agent plans and reflects better with your advice',
      },
    ),
  )
}

function checkPhases({ phases, goalPrompt }: Workflow, parsed: ParsedFile, report: AddDiagnostic): void {
  if (phases === undefined) {
    const hint = goalPrompt === undefined ? 'list them under "phases:"' : 'for a goal-driven workflow add "mode: ralph"'
    report(
      errorAt({ parsed, path: [] }, { code: 'MISSING_PHASES', message: 'A standard workflow must have phases', hint }),
    )
    return
  }
  if (phases.length === 0 && Array.isArray(getRawValue(parsed, ['phases'])))
    report(errorAt({ parsed, path: ['phases'] }, { code: 'EMPTY_WORKFLOW', message: 'The workflow has no phases' }))
  const ids = new Set<string>()
  for (const [index, phase] of phases.entries()) {
    const at = { parsed, path: ['phases', index, 'id'] }
    if (ids.has(phase.id) && phase.id !== unknownText)
      report(errorAt(at, { code: 'DUPLICATE_PHASE_ID', message: `Two phases have the id "${phase.id}"` }))
    ids.add(phase.id)
    checkId(phase.id, at, report)
    checkAction(phase, { parsed, index, report })
  }
}

type PhaseAt = { readonly parsed: ParsedFile; readonly index: number; readonly report: AddDiagnostic }

function checkAction(phase: Phase, { parsed, index, report }: PhaseAt): void {
  const at = { parsed, path: ['phases', index] }
  const named = `Phase "${phase.id}"`
  if (phase.prompt !== undefined && phase.workflow !== undefined)
    report(
      errorAt(at, { code: 'PROMPT_WORKFLOW_MUTUAL_EXCLUSIVE', message: `${named} has prompt and workflow; keep one` }),
    )
  const acts = phase.prompt !== undefined || phase.workflow !== undefined || phase.forEach !== undefined
  if (!acts && phase.id !== unknownText)
    report(errorAt(at, { code: 'PHASE_MISSING_ACTION', message: `${named} must have prompt, workflow or for-each` }))
  if (phase.collection !== undefined && phase.forEach === undefined)
    report(
      errorAt(
        { parsed, path: ['phases', index, 'collection'] },
        { code: 'INVALID_COLLECTION_REF', message: `${named} has collection but no for-each` },
      ),
    )
  if (phase.parallel !== true) return
  if (phase.forEach !== undefined)
    report(
      warningAt(
        { parsed, path: ['phases', index, 'parallel'], part: 'key' },
        {
          code: 'PARALLEL_FOREACH_WARNING',
          message: `${named} works on several items at the same time, in the same files`,
          hint: 'give items that touch the same files a depends-on',
        },
      ),
    )
  else if (phase.workflow !== undefined)
    report(
      errorAt(
        { parsed, path: ['phases', index, 'parallel'], part: 'key' },
        {
          code: 'INVALID_PARALLEL',
          message: `${named} is replaced by the phases of workflow "${phase.workflow}", which parallel cannot apply to`,
          hint: 'put parallel on phases of that workflow',
        },
      ),
    )
}
