import type { Server } from 'node:http'

/** Listens on 127.0.0.1, on a port of the system's choice or on one that was used before. */
export async function listenOnLoopback(
  server: Server,
  port = 0,
): Promise<{ readonly port: number; readonly close: () => Promise<void> }> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => resolve())
  })
  // It must not keep a process alive that has nothing else to do.
  server.unref()
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : port,
    close: async () => {
      await new Promise<void>((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
        setTimeout(resolve, 200).unref()
      })
    },
  }
}
