/** What the first bytes of a connection say about it. */
export type Hello =
  | { readonly kind: 'incomplete' }
  | { readonly kind: 'plain' }
  | { readonly kind: 'tls'; readonly name: string | undefined }

/** Reads the name that a TLS client asks for (RFC 6066), without taking part in the conversation. */
export function readHello(bytes: Buffer): Hello {
  if (bytes.length === 0) return { kind: 'incomplete' }
  if (bytes[0] !== 22) return { kind: 'plain' }
  if (bytes.length < 5) return { kind: 'incomplete' }
  const end = 5 + bytes.readUInt16BE(3)
  if (bytes.length < end) return bytes.length > maxBytes ? { kind: 'plain' } : { kind: 'incomplete' }
  try {
    return { kind: 'tls', name: serverName(bytes.subarray(5, end)) }
  } catch {
    return { kind: 'plain' }
  }
}

const maxBytes = 17 * 1024

/** A list with more than one name may mean another one to the server. */
function singleName(list: Buffer): string {
  const length = list.readUInt16BE(3)
  if (list.readUInt8(2) !== 0 || list.length !== 5 + length) throw new RangeError('not one name')
  return list.toString('latin1', 5)
}

function serverName(hello: Buffer): string | undefined {
  if (hello[0] !== 1) throw new RangeError('no hello of a client')
  // Type, length, version and random bytes stand first.
  let at = 4 + 2 + 32
  at += 1 + hello.readUInt8(at)
  at += 2 + hello.readUInt16BE(at)
  at += 1 + hello.readUInt8(at)
  const end = at + 2 + hello.readUInt16BE(at)
  for (at += 2; at < end;) {
    const type = hello.readUInt16BE(at)
    const length = hello.readUInt16BE(at + 2)
    if (type === 0) return singleName(hello.subarray(at + 4, at + 4 + length))
    at += 4 + length
  }
  return undefined
}
