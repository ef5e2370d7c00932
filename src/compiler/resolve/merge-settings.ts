import { defaultKeep, defaultLimits, defaultTimeouts, type Settings } from '../../contract/settings.ts'
import type { Sprint } from '../../contract/sprint.ts'
import { omitUndefined, type OmitUndefined } from './omit-undefined.ts'

/** Highest precedence first: SPRINT.yaml, the workflow, the user's configuration. */
export type SettingsLayers = readonly (Settings | undefined)[]

/** Merges field by field: the first layer that sets a field wins; groups are merged recursively. */
export function mergeSettings(layers: SettingsLayers) {
  const first = <K extends keyof Settings>(key: K) => layers.find((layer) => layer?.[key] !== undefined)?.[key]
  const agent = first('agent')
  return {
    ralph: { idleThreshold: 3, minIterations: 0, ...mergeGroup(layers, 'ralph') },
    limits: { ...defaultLimits, ...mergeGroup(layers, 'limits') },
    timeouts: { ...defaultTimeouts, ...mergeGroup(layers, 'timeouts') },
    ...omitUndefined({
      agent: agent === undefined ? undefined : toAgentList(agent),
      model: first('model'),
      doneWhen: first('doneWhen'),
      proof: first('proof'),
      frozen: first('frozen'),
      mayChange: first('mayChange'),
      seal: first('seal'),
      room: first('room'),
      review: first('review'),
      checkpoint: first('checkpoint'),
      keep: first('keep') && { ...defaultKeep, ...mergeGroup(layers, 'keep') },
      ...mergeWalls(layers),
      env: first('env'),
      notify: first('notify'),
      prices: first('prices'),
      retry: first('retry'),
      parallelExecution: first('parallelExecution'),
      prompts: first('prompts'),
    }),
  }
}

/** `sandbox` is a short form of `cell`: the layer that sets either of them decides about both. */
function mergeWalls(layers: SettingsLayers) {
  const chosen = layers.find((layer) => layer?.sandbox !== undefined || layer?.cell !== undefined)
  const network = layers.find((layer) => layer?.network !== undefined)?.network
  return { sandbox: chosen?.sandbox, cell: chosen?.cell, network }
}

export type MergedSettings = ReturnType<typeof mergeSettings>

export const toAgentList = (agent: string | readonly string[]): string[] =>
  typeof agent === 'string' ? [agent] : [...agent]

/** Moves the fields of the old `config` to their new place; `checkConfig` reports duplicates. */
export function applyLegacyConfig({ config, ...sprint }: Sprint): Sprint {
  if (!config) return sprint
  const limits = {
    ...omitUndefined({ iterations: config.maxIterations, duration: config.timeBox }),
    ...omitUndefined(sprint.limits ?? {}),
  }
  return { ...sprint, limits, ...omitUndefined({ checkpoint: sprint.checkpoint ?? config.autoCommit }) }
}

type SettingsGroup = 'ralph' | 'limits' | 'timeouts' | 'keep'

function mergeGroup<K extends SettingsGroup>(layers: SettingsLayers, key: K): OmitUndefined<NonNullable<Settings[K]>> {
  return Object.assign({}, ...layers.toReversed().map((layer) => omitUndefined(layer?.[key] ?? {})))
}
