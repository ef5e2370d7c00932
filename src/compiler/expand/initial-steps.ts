import { stepId } from '../../contract/ids.ts'
import type { CollectionItem } from '../../contract/phases.ts'
import type { Step } from '../../contract/progress.ts'
import { checkId } from '../resolve/check-id.ts'
import type { Compilation } from '../resolve/compilation.ts'
import { errorAt, type Path, warningAt } from '../parse/parse.ts'

/** Returns `steps` of a goal-driven sprint, the steps that the agent starts with. */
export function readInitialSteps(compilation: Compilation): Step[] {
  const { sprint, input, report } = compilation
  const seen = new Set<string>()
  return (sprint.value.steps ?? []).map((step, index) => {
    const path = ['steps', index]
    const item = typeof step === 'string' ? { prompt: step, fields: {} } : step
    const id = item.id ?? stepId(index)
    if (typeof step !== 'string') checkStepFields(step, path, compilation)
    const at = { parsed: sprint.parsed, path: [...path, 'id'] }
    checkId(id, at, report)
    if (seen.has(id)) report(errorAt(at, { code: 'DUPLICATE_ITEM_ID', message: `Two steps have the id "${id}"` }))
    else if (/^step-\d+$/.test(id) && id !== stepId(index))
      report(
        errorAt(at, { code: 'INVALID_ID', message: `Ids such as "${id}" are reserved for Ralph; use another one` }),
      )
    seen.add(id)
    return { id, prompt: item.prompt, status: 'pending', addedAt: input.at, addedInIteration: 0 }
  })
}

const refusedFields = ['workflow', 'model', 'agent', 'depends-on']
const knownFields = new Set(['id', 'prompt', ...refusedFields])

function checkStepFields({ fields }: CollectionItem, path: Path, { sprint, report }: Compilation): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const at = { parsed: sprint.parsed, path: [...path, name], part: 'key' as const }
    if (refusedFields.includes(name))
      report(
        errorAt(at, { code: 'NOT_SUPPORTED', message: `${name} has no meaning for a step of a goal-driven sprint` }),
      )
    else if (!knownFields.has(name))
      report(warningAt(at, { code: 'UNKNOWN_FIELD', message: `${name} is not a known field here` }))
  }
}
