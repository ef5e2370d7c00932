import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { fileObject, partialFileObject, toKebab } from './file-object.ts'
import { Sprint } from './sprint.ts'
import { Timestamp } from './time.ts'
import { Workflow } from './workflow.ts'

const Thing = fileObject({
  id: z.string(),
  maxRetryCount: z.int().default(3),
  startedAt: Timestamp.nullable(),
  innerParts: z.array(fileObject({ byName: z.record(z.string(), z.number()) })).optional(),
})

const inFile = {
  id: 'a',
  'max-retry-count': 7,
  'started-at': '2026-01-18T10:00:00.000Z',
  'inner-parts': [{ 'by-name': { camelCase: 1, 'kebab-case': 2 } }],
}
const inside = {
  id: 'a',
  maxRetryCount: 7,
  startedAt: Date.UTC(2026, 0, 18, 10),
  innerParts: [{ byName: { camelCase: 1, 'kebab-case': 2 } }],
}

describe('an object of a file', () => {
  it('is kebab-case in files and camelCase in memory, at every depth; keys of records are data', () => {
    expect(z.decode(Thing, inFile)).toEqual(inside)
    expect(z.encode(Thing, inside)).toEqual(inFile)
  })

  it('fills in defaults when read and omits absent fields', () => {
    const read = z.decode(Thing, { id: 'a', 'started-at': null })

    expect(read).toEqual({ id: 'a', maxRetryCount: 3, startedAt: null })
    expect(Object.keys(read)).not.toContain('innerParts')
    expect(z.encode(Thing, read)).toEqual({ id: 'a', 'max-retry-count': 3, 'started-at': null })
  })

  it('survives a round trip, whatever it contains', () => {
    const things = fc.record({
      id: fc.string(),
      maxRetryCount: fc.integer(),
      startedAt: fc.option(fc.integer({ min: 0, max: 4_102_444_800_000 })),
    })
    const comesBack = (thing: z.output<typeof Thing>) => {
      expect(z.decode(Thing, z.encode(Thing, thing))).toEqual(thing)
    }

    expect(fc.check(fc.property(things, comesBack), { seed: 42 })).toMatchObject({ failed: false })
  })

  it('refuses unknown names, including its camelCase names', () => {
    const { error } = Thing.safeParse({ id: 'a', 'started-at': null, maxRetryCount: 1, nope: 2 })

    expect(error?.issues).toMatchObject([{ code: 'unrecognized_keys', keys: ['maxRetryCount', 'nope'] }])
  })

  it('reports problems with the field names of the file', () => {
    const { error } = Thing.safeParse({ ...inFile, 'inner-parts': [{ 'by-name': { x: 'y' } }] })

    expect(error?.issues).toMatchObject([{ path: ['inner-parts', 0, 'by-name', 'x'] }])
  })

  it('can have all its fields optional', () => {
    const Part = partialFileObject({ noProgress: z.int(), usd: z.number() })

    expect(z.decode(Part, { 'no-progress': 1 })).toEqual({ noProgress: 1 })
    expect(z.decode(Part, {})).toEqual({})
  })
})

describe('a name in a file', () => {
  it.each([
    ['id', 'id'],
    ['idleThreshold', 'idle-threshold'],
    ['iterationUsd', 'iteration-usd'],
    ['aBC', 'a-b-c'],
  ])('of %s is %s', (name, fileName) => {
    expect(toKebab(name)).toBe(fileName)
  })
})

describe.each([
  ['SPRINT.yaml', Sprint],
  ['a workflow', Workflow],
])('the JSON Schema of %s', (_, schema) => {
  const json = z.toJSONSchema(schema, { io: 'input' })

  it('is closed, and names its fields as written in files', () => {
    expect(json).toMatchObject({ type: 'object', additionalProperties: false })
    const names = fieldNamesIn(json)
    expect(names.length).toBeGreaterThan(40)
    expect(names.filter((name) => name !== toKebab(name))).toEqual(spellingsOfTheSeeds)
  })

  it('describes every field that is not self-evident', () => {
    const undescribed = Object.entries(json.properties ?? {}).filter(
      ([, field]) => typeof field === 'object' && field.description === undefined,
    )

    expect(undescribed.map(([name]) => name)).toEqual([])
  })
})

/** The seeds write two groups in camelCase; we read both spellings. */
const spellingsOfTheSeeds = ['maxAttempts', 'backoffMs', 'retryOn', 'maxConcurrency', 'onDependencyFailure']

function fieldNamesIn(value: unknown): string[] {
  if (typeof value !== 'object' || value === null) return []
  const properties: unknown = 'properties' in value ? value.properties : {}
  const names = typeof properties === 'object' && properties !== null ? Object.keys(properties) : []
  return [...names, ...Object.values(value).flatMap(fieldNamesIn)]
}
