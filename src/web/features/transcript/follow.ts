/** Whether the list stays at its newest end. Only the user ends following; a layout shift does not. */
export type Latch = {
  readonly following: boolean
  /** Where the list was when the user started to scroll, and until when scroll events count as the user's. */
  readonly hand?: { readonly from: number; readonly until: number; readonly pushed: number }
}

const handMs = 1500
const letGoPx = 120
const edgePx = 24

/** `pushed`: how far the wheel turned towards older events; a busy browser may scroll much later. */
export function touched(latch: Latch, { now, top, pushed = 0 }: { now: number; top: number; pushed?: number }): Latch {
  const before = latch.hand && latch.hand.until >= now ? latch.hand : { from: top, pushed: 0 }
  const hand = { from: before.from, until: now + handMs, pushed: Math.max(0, before.pushed + pushed) }
  return { following: latch.following && hand.pushed <= letGoPx, hand }
}

export function scrolled(
  latch: Latch,
  { now, top, distanceFromEnd }: { now: number; top: number; distanceFromEnd: number },
): Latch {
  if (!latch.hand || latch.hand.until < now) return latch
  if (distanceFromEnd <= edgePx) return { ...latch, following: true }
  return latch.following && latch.hand.from - top > letGoPx ? { ...latch, following: false } : latch
}
