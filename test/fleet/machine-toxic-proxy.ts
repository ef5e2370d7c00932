import { connect, createServer, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import { Transform } from 'node:stream'

/** Network conditions. `half-open`: connections stay open but carry nothing; afterwards they are dead. */
export type Toxic =
  | { readonly kind: 'pass' }
  | { readonly kind: 'delay'; readonly ms: number }
  | { readonly kind: 'throttle'; readonly bytesPerSecond: number }
  | { readonly kind: 'cut' }
  | { readonly kind: 'half-open' }

/** A bad network between one machine and the backend. */
export async function createToxicProxy(target: number) {
  let toxic: Toxic = { kind: 'pass' }
  const pairs = new Set<readonly [Socket, Socket]>()
  const forgotten = new WeakSet<readonly [Socket, Socket]>()
  const server = createServer((near) => {
    near.on('error', () => {})
    if (toxic.kind === 'cut') return void near.destroy()
    const far = connect(target, '127.0.0.1')
    const pair = [near, far] as const
    pairs.add(pair)
    const end = () => {
      pairs.delete(pair)
      near.destroy()
      far.destroy()
    }
    for (const socket of pair) socket.on('error', end).on('close', end)
    const now = (): Toxic => (forgotten.has(pair) ? { kind: 'half-open' } : toxic)
    near.pipe(applyToxic(now)).pipe(far)
    far.pipe(applyToxic(now)).pipe(near)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const kill = () => {
    for (const [near, far] of pairs) {
      near.destroy()
      far.destroy()
    }
  }
  return {
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
    port: (server.address() as AddressInfo).port,
    set: (next: Toxic) => {
      if (next.kind === 'cut' || toxic.kind === 'half-open') kill()
      toxic = next
    },
    /** Like a restarted router: existing connections silently carry nothing, new ones work. */
    forget: () => {
      for (const pair of pairs) forgotten.add(pair)
    },
    close: () => {
      kill()
      server.close()
    },
  }
}

const applyToxic = (toxic: () => Toxic) =>
  new Transform({
    transform(chunk: Buffer, _encoding, done) {
      const now = toxic()
      if (now.kind === 'half-open') return done()
      if (now.kind === 'delay') return void setTimeout(() => done(null, chunk), now.ms)
      if (now.kind === 'throttle')
        return void setTimeout(() => done(null, chunk), (chunk.length / now.bytesPerSecond) * 1000)
      return done(null, chunk)
    },
  })
