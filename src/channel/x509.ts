/**
 * Loads the certificate library on demand. Its dependency tsyringe requires three functions of the abandoned Reflect
 * metadata proposal.
 */
export async function loadX509() {
  if (!('getMetadata' in Reflect)) Object.assign(Reflect, metadata)
  return import('@peculiar/x509')
}

const kept = new WeakMap<object, Map<unknown, unknown>>()

const own = (key: unknown, target: object): unknown => kept.get(target)?.get(key)

const metadata = {
  getOwnMetadata: own,
  getMetadata: own,
  defineMetadata: (key: unknown, value: unknown, target: object): void => {
    kept.set(target, (kept.get(target) ?? new Map()).set(key, value))
  },
}
