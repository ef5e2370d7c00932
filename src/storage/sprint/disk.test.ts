import { expect, it } from 'vitest'
import { createDiskPort } from './disk.ts'

const megabyte = 1024 * 1024
const disk = (freeBytes: number, totalBytes: number) => createDiskPort('/', async () => ({ freeBytes, totalBytes }))

it.each([
  ['a big disk with a gigabyte left', 1000, 500_000],
  ['a big disk with 200 MB left', 200, 500_000],
  ['a small disk that is rather full', 2, 100],
])('has room on %s', async (_, free, total) => {
  expect(await disk(free * megabyte, total * megabyte).shortage()).toBeUndefined()
})

it('has none on a big disk with less than 200 MB free, and says how much is free', async () => {
  expect(await disk(12.3 * megabyte, 500_000 * megabyte).shortage()).toBe('12 MB free on the disk, 200 MB are needed')
})

it('has none on a small disk with less than one percent free', async () => {
  expect(await disk(0.5 * megabyte, 100 * megabyte).shortage()).toBe('0.5 MB free on the disk, 1.0 MB are needed')
  expect(await disk(3000, 2 * megabyte).shortage()).toBe('3 KB free on the disk, 21 KB are needed')
})
