import { defined, type Defined } from './defined.ts'
import { defaultLimits, defaultTimeouts, type Settings } from '../contract/settings.ts'

/** First the layer that wins: SPRINT.yaml, the workflow, the user's configuration. */
export type Layers = readonly (Settings | undefined)[]

/** Field by field: the first layer that sets a field decides it; groups are merged within. */
export function mergeSettings(layers: Layers) {
  const first = <K extends keyof Settings>(key: K) => layers.find((layer) => layer?.[key] !== undefined)?.[key]
  const agent = first('agent')
  return {
    ralph: { idleThreshold: 3, minIterations: 0, ...group(layers, 'ralph') },
    limits: { ...defaultLimits, ...group(layers, 'limits') },
    timeouts: { ...defaultTimeouts, ...group(layers, 'timeouts') },
    agent: agent === undefined || Array.isArray(agent) ? agent : [agent],
    model: first('model'),
    doneWhen: first('doneWhen'),
    review: first('review'),
    checkpoint: first('checkpoint'),
    sandbox: first('sandbox'),
    env: first('env'),
    notify: first('notify'),
  }
}

export type MergedSettings = ReturnType<typeof mergeSettings>

type Group = 'ralph' | 'limits' | 'timeouts'

function group<K extends Group>(layers: Layers, key: K): Defined<NonNullable<Settings[K]>> {
  return Object.assign({}, ...layers.toReversed().map((layer) => defined(layer?.[key] ?? {})))
}
