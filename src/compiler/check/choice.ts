import type { KnownAgent, KnownAgents } from '../resolve/compilation.ts'
import { unknownText } from '../parse/decode.ts'
import type { Diagnostic, Tell } from '../parse/diagnostics.ts'
import { asList } from '../resolve/merge-settings.ts'
import { type At, errorAt } from '../parse/parse.ts'
import { didYouMean } from '../parse/suggest.ts'

/** Which agent program does the work, and with which model. */
export type Choice = { readonly model?: string; readonly agent?: readonly string[] }

type Chooser = { readonly model?: string | undefined; readonly agent?: string | readonly string[] | undefined }

export const chosen = ({ model, agent }: Chooser): Choice => ({
  ...(model !== undefined && { model }),
  ...(agent !== undefined && { agent: asList(agent) }),
})

/** `first` wins, field by field. */
export const over = (first: Choice, second: Choice): Choice => ({ ...second, ...first })

type Agents = KnownAgents | undefined

/** Checks the agent names in the map at `at`, which holds the field `agent`. */
export function checkAgents({ agent }: Chooser, at: At, agents: Agents, tell: Tell): void {
  if (agents === undefined || agent === undefined) return
  for (const [index, name] of asList(agent).entries()) {
    if (agents.has(name) || name === unknownText) continue
    const path = [...at.path, 'agent', ...(typeof agent === 'string' ? [] : [index])]
    const { hint = `known agents: ${[...agents.keys()].join(', ')}` } = didYouMean(name, agents.keys())
    tell(errorAt({ ...at, path }, { code: 'AGENT_UNKNOWN', message: `There is no agent "${name}"`, hint }))
  }
}

/** Checks that the first-choice agent supports the model. */
export function checkModel({ model, agent }: Choice, at: At, agents: Agents, tell: Tell): void {
  if (agents === undefined || model === undefined || model === unknownText) return
  const first = agent?.[0]
  if (first !== undefined) {
    const known = agents.get(first)
    if (known && !takes(known, model)) tell(wrongModel(at, model, `agent "${first}"`, known.models ?? []))
    return
  }
  const all = [...agents.values()]
  if (all.length > 0 && !all.some((known) => takes(known, model)))
    tell(
      wrongModel(
        at,
        model,
        'any agent',
        all.flatMap(({ models }) => models ?? []),
      ),
    )
}

const takes = ({ models }: KnownAgent, model: string): boolean =>
  models === undefined ||
  models.some((name) => (name.endsWith('*') ? model.startsWith(name.slice(0, -1)) : name === model))

function wrongModel(at: At, model: string, who: string, models: readonly string[]): Diagnostic {
  const { hint = `known models: ${models.join(', ')}` } = didYouMean(model, models)
  return errorAt(at, { code: 'INVALID_MODEL', message: `"${model}" is not a model of ${who}`, hint })
}
