import type { Hook } from '../../contract/settings.ts'
import { createBudget } from './budget.ts'
import type { Compilation } from '../resolve/compilation.ts'
import { fillPrompt, locatePrompt, createScope } from './expander.ts'
import { inlineWorkflow, resolveInner, topLevel } from './inline.ts'
import { type DiagnosticTarget, errorAt } from '../parse/parse.ts'
import type { TemplateVariable } from './template.ts'

type WorkflowHook = { readonly hook: Hook; readonly at: DiagnosticTarget }

/**
 * Returns the prompts of a hook's workflow, one per phase, each of which is a call of its own. `plugin:command` has none: it is
 * a slash command that the agent must know.
 */
export function readHookPrompts({ hook, at }: WorkflowHook, compilation: Compilation): string[] {
  const name = hook.workflow ?? ''
  const place = { ...at, path: [...at.path, 'workflow'] }
  if (name.includes(':')) {
    if (hook.fallbackPrompt === undefined) checkSlashCommand(name, place, compilation)
    return []
  }
  const { library, report } = compilation
  const quiet: Compilation['report'] = (found) => report(hook.enabled ? found : { ...found, severity: 'warning' })
  const inlining = { library, report: quiet, budget: createBudget(), sprintChoice: {} }
  const workflow = resolveInner({ name, at: place, missing: 'WORKFLOW_NOT_FOUND' }, [], inlining)
  if (!workflow) return []
  const phases = inlineWorkflow(workflow, topLevel, inlining)
  const odd = phases.find(({ forEach, flow }) => forEach ?? flow.gate ?? flow.break)
  if (odd) {
    const message = `Workflow "${name}" cannot be a hook: phase "${odd.id}" has for-each, gate or break`
    quiet(errorAt(place, { code: 'INVALID_HOOK', message }))
    return []
  }
  const filling = { compilation: { ...compilation, report: quiet }, inlining, unknown: new Set<TemplateVariable>() }
  return phases.map((phase, index) => {
    const scope = createScope({ id: phase.id, index }, compilation)
    return fillPrompt(phase.prompt ?? [], scope, locatePrompt(phase), filling).trim()
  })
}

function checkSlashCommand(command: string, at: DiagnosticTarget, { input, settings, report }: Compilation): void {
  const agent = settings.agent?.[0]
  if (!/^[\w.-]+:[\w.-]+$/.test(command))
    report(errorAt(at, { code: 'INVALID_HOOK', message: `"${command}" is not of the form plugin:command` }))
  else if (agent !== undefined && input.agents?.get(agent)?.slashCommands === false)
    report(
      errorAt(at, {
        code: 'NOT_SUPPORTED',
        message: `Agent "${agent}" has no slash commands, so it cannot run "${command}"`,
        hint: 'give the hook a prompt or run instead',
      }),
    )
}
