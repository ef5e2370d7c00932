import { stepId } from '../../contract/ids.ts'
import type { CollectionItem } from '../../contract/phases.ts'
import type { Step } from '../../contract/progress.ts'
import { checkId } from '../resolve/check-id.ts'
import type { Compilation } from '../resolve/compilation.ts'
import { errorAt, type Path, warningAt } from '../parse/parse.ts'

/** Returns `steps` of a goal-driven sprint, the steps that the agent starts with. */
export function givenSteps(compilation: Compilation): Step[] {
  const { sprint, input, tell } = compilation
  const seen = new Set<string>()
  return (sprint.value.steps ?? []).map((step, index) => {
    const path = ['steps', index]
    const item = typeof step === 'string' ? { prompt: step, fields: {} } : step
    const id = item.id ?? stepId(index)
    if (typeof step !== 'string') checkFields(step, path, compilation)
    const at = { parsed: sprint.parsed, path: [...path, 'id'] }
    checkId(id, at, tell)
    if (seen.has(id)) tell(errorAt(at, { code: 'DUPLICATE_ITEM_ID', message: `Two steps have the id "${id}"` }))
    else if (/^step-\d+$/.test(id) && id !== stepId(index))
      tell(errorAt(at, { code: 'INVALID_ID', message: `Ids such as "${id}" are reserved for Ralph; use another one` }))
    seen.add(id)
    return { id, prompt: item.prompt, status: 'pending', addedAt: input.at, addedInIteration: 0 }
  })
}

const refused = ['workflow', 'model', 'agent', 'depends-on']
const honoured = new Set(['id', 'prompt', ...refused])

function checkFields({ fields }: CollectionItem, path: Path, { sprint, tell }: Compilation): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value === undefined) continue
    const at = { parsed: sprint.parsed, path: [...path, name], part: 'key' as const }
    if (refused.includes(name))
      tell(errorAt(at, { code: 'NOT_SUPPORTED', message: `${name} has no meaning for a step of a goal-driven sprint` }))
    else if (!honoured.has(name))
      tell(warningAt(at, { code: 'UNKNOWN_FIELD', message: `${name} is not a known field here` }))
  }
}
