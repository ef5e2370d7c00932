import { afterEach, expect, it, vi } from 'vitest'
import { createDiskSpaceGuard } from './disk-space.ts'

afterEach(() => void vi.useRealTimers())

it('refuses writes before the disk is full, and recovers by itself', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const disk = { freeBytes: 70_000_000 }
  const mustHaveRoom = createDiskSpaceGuard('/data', async () => disk)
  await mustHaveRoom()
  disk.freeBytes = 50_000_000
  await mustHaveRoom()
  vi.advanceTimersByTime(1500)
  await expect(mustHaveRoom()).rejects.toMatchObject({
    code: 'DISK_FULL',
    message: 'only 50 MB of disk space are left for the database',
  })
  disk.freeBytes = 1_000_000_000
  vi.advanceTimersByTime(1500)
  await mustHaveRoom()
})
