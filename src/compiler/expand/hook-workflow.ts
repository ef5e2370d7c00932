import type { Hook } from '../../contract/settings.ts'
import { newBudget } from './budget.ts'
import type { Compilation } from '../resolve/compilation.ts'
import { fillPrompt, promptAt, scopeOf } from './expander.ts'
import { inline, resolveInner, topLevel } from './inline.ts'
import { type At, errorAt } from '../parse/parse.ts'
import type { Variable } from './template.ts'

type PlacedHook = { readonly hook: Hook; readonly at: At }

/**
 * Returns the prompt of a hook's workflow. `plugin:command` has none: it is a slash command that the agent must know. A
 * workflow of the project becomes one prompt, joined from the prompts of its phases.
 */
export function localHookPrompt({ hook, at }: PlacedHook, compilation: Compilation): string | undefined {
  const name = hook.workflow ?? ''
  const place = { ...at, path: [...at.path, 'workflow'] }
  if (name.includes(':')) return checkSlashCommand(name, place, compilation)
  const { library, tell } = compilation
  const quiet: Compilation['tell'] = (found) => tell(hook.enabled ? found : { ...found, severity: 'warning' })
  const inlining = { library, tell: quiet, budget: newBudget(), sprintChoice: {} }
  const workflow = resolveInner({ name, at: place, missing: 'WORKFLOW_NOT_FOUND' }, [], inlining)
  if (!workflow) return undefined
  const phases = inline(workflow, topLevel, inlining)
  const odd = phases.find(({ forEach, flow }) => forEach ?? flow.gate ?? flow.break)
  if (odd) {
    const message = `Workflow "${name}" cannot be a hook: phase "${odd.id}" has for-each, gate or break`
    return quiet(errorAt(place, { code: 'INVALID_HOOK', message }))
  }
  const filling = { compilation: { ...compilation, tell: quiet }, inlining, unknown: new Set<Variable>() }
  return phases
    .map((phase, index) => {
      const scope = scopeOf({ id: phase.id, index }, compilation)
      return fillPrompt(phase.prompt ?? [], scope, promptAt(phase), filling).trim()
    })
    .join('\n\n')
}

function checkSlashCommand(command: string, at: At, { input, settings, tell }: Compilation): undefined {
  const agent = settings.agent?.[0]
  if (!/^[\w.-]+:[\w.-]+$/.test(command))
    tell(errorAt(at, { code: 'INVALID_HOOK', message: `"${command}" is not of the form plugin:command` }))
  else if (agent !== undefined && input.agents?.get(agent)?.slashCommands === false)
    tell(
      errorAt(at, {
        code: 'NOT_SUPPORTED',
        message: `Agent "${agent}" has no slash commands, so it cannot run "${command}"`,
        hint: 'give the hook a prompt or run instead',
      }),
    )
}
