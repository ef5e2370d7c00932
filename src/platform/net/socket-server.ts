import { closeSync, openSync, rmSync } from 'node:fs'
import type { Server } from 'node:net'
import { join } from 'node:path'

/**
 * Listens on a unix socket in a folder, in place of one that an earlier process left there. The path of a socket may have at
 * most 107 bytes, so it is named through the open folder.
 */
export async function serveOnSocket(
  server: Server,
  folder: string,
  name: string,
): Promise<{ readonly close: () => Promise<void> }> {
  rmSync(join(folder, name), { force: true })
  const fd = openSync(folder, 'r')
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject)
      server.listen(`/proc/self/fd/${fd}/${name}`, () => resolve())
    })
  } catch (error) {
    closeSync(fd)
    throw error
  }
  // It must not keep a process alive that has nothing else to do.
  server.unref()
  return {
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        if ('closeAllConnections' in server && typeof server.closeAllConnections === 'function')
          server.closeAllConnections()
        setTimeout(resolve, 200).unref()
      })
      closeSync(fd)
    },
  }
}
