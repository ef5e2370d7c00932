/**
 * Loads the certificate library on demand. Its dependency tsyringe requires three functions of the abandoned Reflect
 * metadata proposal.
 */
export async function loadX509() {
  if (!('getMetadata' in Reflect)) Object.assign(Reflect, metadata)
  return import('@peculiar/x509')
}

const metadataByTarget = new WeakMap<object, Map<unknown, unknown>>()

const readMetadata = (key: unknown, target: object): unknown => metadataByTarget.get(target)?.get(key)

const metadata = {
  getOwnMetadata: readMetadata,
  getMetadata: readMetadata,
  defineMetadata: (key: unknown, value: unknown, target: object): void => {
    metadataByTarget.set(target, (metadataByTarget.get(target) ?? new Map()).set(key, value))
  },
}
