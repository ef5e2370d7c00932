/**
 * The library for certificates. Loaded when one is made, which is seldom. It finds its algorithms with something (tsyringe) that
 * insists on three functions of a proposal that never came.
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
