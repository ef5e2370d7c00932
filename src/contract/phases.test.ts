import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { CollectionItem, CompiledPhase, Gate } from './phases.ts'

describe('a gate', () => {
  it.each([
    [undefined, 60_000],
    [5, 5000],
    ['2m', 120_000],
  ])('with timeout %j waits %d ms', (timeout, ms) => {
    const gate = z.decode(Gate, { script: 's', 'on-fail': { prompt: 'p' }, timeout })

    expect(gate).toEqual({ script: 's', onFail: { prompt: 'p', maxRetries: 3 }, timeout: ms })
  })
})

describe('an item', () => {
  it('keeps custom fields for prompts and survives a round trip', () => {
    const written = { prompt: 'p', id: 'a', 'depends-on': ['b'], sev: 'high', nested: { x: 1 } }
    const item = z.decode(CollectionItem, written)

    expect(item).toMatchObject({ prompt: 'p', id: 'a', dependsOn: ['b'] })
    expect(item.fields).toMatchObject({ sev: 'high', nested: { x: 1 }, prompt: 'p', id: 'a' })
    expect(z.encode(CollectionItem, item)).toEqual(written)
  })
})

describe('a compiled phase', () => {
  it('is written with the field names of the seeds', () => {
    const phase = z.decode(CompiledPhase, {
      id: 'a',
      status: 'pending',
      'wait-for-parallel': true,
      gate: { script: 's', 'on-fail-prompt': 'p', 'max-retries': 2, timeout: 60 },
      steps: [{ id: 'x', prompt: 'p', status: 'completed', 'depends-on': ['y'], phases: [] }],
    })

    expect(phase.gate).toEqual({ script: 's', onFailPrompt: 'p', maxRetries: 2, timeout: 60_000 })
    expect(z.encode(CompiledPhase, phase)).toEqual({
      id: 'a',
      status: 'pending',
      'wait-for-parallel': true,
      gate: { script: 's', 'on-fail-prompt': 'p', 'max-retries': 2, timeout: '1m' },
      steps: [{ id: 'x', prompt: 'p', status: 'completed', 'depends-on': ['y'], phases: [] }],
    })
  })
})
