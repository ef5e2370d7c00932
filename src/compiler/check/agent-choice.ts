import type { KnownAgent, KnownAgents } from '../resolve/compilation.ts'
import { unknownText } from '../parse/decode.ts'
import type { Diagnostic, AddDiagnostic } from '../parse/diagnostics.ts'
import { toAgentList } from '../resolve/merge-settings.ts'
import { type DiagnosticTarget, errorAt } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'

/** Which agent program does the work, and with which model. */
export type AgentChoice = { readonly model?: string; readonly agent?: readonly string[] }

type AgentChoiceFields = {
  readonly model?: string | undefined
  readonly agent?: string | readonly string[] | undefined
}

export const readAgentChoice = ({ model, agent }: AgentChoiceFields): AgentChoice => ({
  ...(model !== undefined && { model }),
  ...(agent !== undefined && { agent: toAgentList(agent) }),
})

/** `first` wins, field by field. */
export const mergeChoices = (first: AgentChoice, second: AgentChoice): AgentChoice => ({ ...second, ...first })

type OptionalAgents = KnownAgents | undefined

/** Checks the agent names in the map at `at`, which holds the field `agent`. */
export function checkAgents(
  { agent }: AgentChoiceFields,
  at: DiagnosticTarget,
  agents: OptionalAgents,
  report: AddDiagnostic,
): void {
  if (agents === undefined || agent === undefined) return
  for (const [index, name] of toAgentList(agent).entries()) {
    if (agents.has(name) || name === unknownText) continue
    const path = [...at.path, 'agent', ...(typeof agent === 'string' ? [] : [index])]
    const { hint = `known agents: ${[...agents.keys()].join(', ')}` } = didYouMean(name, agents.keys())
    report(errorAt({ ...at, path }, { code: 'AGENT_UNKNOWN', message: `There is no agent "${name}"`, hint }))
  }
}

/** Checks that the first-choice agent supports the model. */
export function checkModel(
  { model, agent }: AgentChoice,
  at: DiagnosticTarget,
  agents: OptionalAgents,
  report: AddDiagnostic,
): void {
  if (agents === undefined || model === undefined || model === unknownText) return
  const first = agent?.[0]
  if (first !== undefined) {
    const known = agents.get(first)
    if (known && !acceptsModel(known, model))
      report(createInvalidModel(at, model, `agent "${first}"`, known.models ?? []))
    return
  }
  const all = [...agents.values()]
  if (all.length > 0 && !all.some((known) => acceptsModel(known, model)))
    report(
      createInvalidModel(
        at,
        model,
        'any agent',
        all.flatMap(({ models }) => models ?? []),
      ),
    )
}

const acceptsModel = ({ models }: KnownAgent, model: string): boolean =>
  models === undefined ||
  models.some((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : name === model))

function createInvalidModel(at: DiagnosticTarget, model: string, who: string, models: readonly string[]): Diagnostic {
  const { hint = `known models: ${models.join(', ')}` } = didYouMean(model, models)
  return errorAt(at, { code: 'INVALID_MODEL', message: `"${model}" is not a model of ${who}`, hint })
}
