/** What @peculiar/x509 finds its algorithms with (tsyringe) insists on three functions of a proposal that never came. */
const kept = new WeakMap<object, Map<unknown, unknown>>()

const own = (key: unknown, target: object): unknown => kept.get(target)?.get(key)

const known = {
  getOwnMetadata: own,
  getMetadata: own,
  defineMetadata: (key: unknown, value: unknown, target: object): void => {
    kept.set(target, (kept.get(target) ?? new Map()).set(key, value))
  },
}

if (!('getMetadata' in Reflect)) Object.assign(Reflect, known)
