import { expect, it } from 'vitest'
import { z } from 'zod'
import { newUuid } from './uuid.ts'

it('makes UUIDs of version 7 that sort by time', () => {
  const ids = [1, 1000, 1_700_000_000_000].map((now) => newUuid(now))
  expect(ids.every((id) => z.uuidv7().safeParse(id).success)).toBe(true)
  expect(ids.toSorted()).toEqual(ids)
})

it('never makes the same one twice', () => {
  const ids = Array.from({ length: 1000 }, () => newUuid(5))
  expect(new Set(ids).size).toBe(1000)
})
