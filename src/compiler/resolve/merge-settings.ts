import { defaultLimits, defaultTimeouts, type Settings } from '../../contract/settings.ts'
import type { Sprint } from '../../contract/sprint.ts'
import { defined, type Defined } from './defined.ts'

/** Highest precedence first: SPRINT.yaml, the workflow, the user's configuration. */
export type Layers = readonly (Settings | undefined)[]

/** Merges field by field: the first layer that sets a field wins; groups are merged recursively. */
export function mergeSettings(layers: Layers) {
  const first = <K extends keyof Settings>(key: K) => layers.find((layer) => layer?.[key] !== undefined)?.[key]
  const agent = first('agent')
  return {
    ralph: { idleThreshold: 3, minIterations: 0, ...group(layers, 'ralph') },
    limits: { ...defaultLimits, ...group(layers, 'limits') },
    timeouts: { ...defaultTimeouts, ...group(layers, 'timeouts') },
    ...defined({
      agent: agent === undefined ? undefined : asList(agent),
      model: first('model'),
      doneWhen: first('doneWhen'),
      review: first('review'),
      checkpoint: first('checkpoint'),
      sandbox: first('sandbox'),
      env: first('env'),
      notify: first('notify'),
      prices: first('prices'),
      retry: first('retry'),
      parallelExecution: first('parallelExecution'),
      prompts: first('prompts'),
    }),
  }
}

export type MergedSettings = ReturnType<typeof mergeSettings>

export const asList = (agent: string | readonly string[]): string[] =>
  typeof agent === 'string' ? [agent] : [...agent]

/** Moves the fields of the old `config` to their new place; `checkConfig` reports duplicates. */
export function withConfig({ config, ...sprint }: Sprint): Sprint {
  if (!config) return sprint
  const limits = {
    ...defined({ iterations: config.maxIterations, duration: config.timeBox }),
    ...defined(sprint.limits ?? {}),
  }
  return { ...sprint, limits, ...defined({ checkpoint: sprint.checkpoint ?? config.autoCommit }) }
}

type Group = 'ralph' | 'limits' | 'timeouts'

function group<K extends Group>(layers: Layers, key: K): Defined<NonNullable<Settings[K]>> {
  return Object.assign({}, ...layers.toReversed().map((layer) => defined(layer?.[key] ?? {})))
}
