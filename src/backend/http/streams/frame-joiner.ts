export type JoinFrames = (frames: readonly Uint8Array[]) => Uint8Array | undefined

/**
 * Joins frames into one chunk, because each send costs more than its bytes. Clients with the same frames share the
 * bytes.
 */
export function createFrameJoiner(): JoinFrames {
  const joined = new Map<Uint8Array, JoinedFrames[]>()
  return (frames) => {
    const [first] = frames
    if (!first || frames.length === 1) return first
    const alike = joined.get(first) ?? []
    const known = alike.find((one) => sameFrames(one.frames, frames))
    if (known) return known.bytes
    const bytes = Buffer.concat(frames)
    joined.set(first, [...alike, { frames, bytes }])
    return bytes
  }
}

type JoinedFrames = { readonly frames: readonly Uint8Array[]; readonly bytes: Uint8Array }

const sameFrames = (a: readonly Uint8Array[], b: readonly Uint8Array[]): boolean =>
  a.length === b.length && a.every((frame, index) => frame === b[index])
