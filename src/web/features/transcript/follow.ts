/** Whether the list stays at its newest end. Only the user ends following; a layout shift does not. */
export type FollowLatch = {
  readonly following: boolean
  /** Where the list was when the user started to scroll, and until when scroll events count as the user's. */
  readonly userScroll?: { readonly from: number; readonly until: number; readonly pushed: number }
}

const userScrollMs = 1500
const releasePx = 120
const edgePx = 24

/** `pushed`: how far the wheel turned towards older events; a busy browser may scroll much later. */
export function updateOnUserScroll(
  latch: FollowLatch,
  { now, top, pushed = 0 }: { now: number; top: number; pushed?: number },
): FollowLatch {
  const before = latch.userScroll && latch.userScroll.until >= now ? latch.userScroll : { from: top, pushed: 0 }
  const hand = { from: before.from, until: now + userScrollMs, pushed: Math.max(0, before.pushed + pushed) }
  return { following: latch.following && hand.pushed <= releasePx, userScroll: hand }
}

export function updateOnScroll(
  latch: FollowLatch,
  { now, top, distanceFromEnd }: { now: number; top: number; distanceFromEnd: number },
): FollowLatch {
  if (!latch.userScroll || latch.userScroll.until < now) return latch
  if (distanceFromEnd <= edgePx) return { ...latch, following: true }
  return latch.following && latch.userScroll.from - top > releasePx ? { ...latch, following: false } : latch
}
