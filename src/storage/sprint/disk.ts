import { diskSpace } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import type { Ports } from '../../runtime/ports.ts'

/** Free space below both limits is too little to start anything: a big disk may be quite full, a small one always is. */
const floorBytes = 200 * 1024 * 1024
const floorShare = 0.01

type DiskPort = NonNullable<Ports['disk']>

/** Checks the disks that hold the sprint and its state. */
export const createDiskPort = (sprintDir: string, space = diskSpace): DiskPort => ({
  shortage: async () => {
    const state = stateFolder(sprintDir)
    return (
      (await describeShortage(sprintDir, space)) ?? (state === sprintDir ? undefined : describeShortage(state, space))
    )
  },
})

async function describeShortage(folder: string, space: typeof diskSpace): Promise<string | undefined> {
  const { freeBytes, totalBytes } = await space(folder)
  const floor = Math.min(floorBytes, totalBytes * floorShare)
  return freeBytes >= floor ? undefined : `${megabytes(freeBytes)} free on the disk, ${megabytes(floor)} are needed`
}

const megabyte = 1024 * 1024

/** Kilobytes where megabytes would be `0.0`. */
function megabytes(bytes: number): string {
  if (bytes < megabyte / 10) return `${Math.ceil(bytes / 1024)} KB`
  return `${(bytes / megabyte).toFixed(bytes < 10 * megabyte ? 1 : 0)} MB`
}
