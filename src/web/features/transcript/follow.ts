/** Whether the list stays at its newest end. Only a person lets go of it; a layout that shifts does not. */
export type Latch = {
  readonly following: boolean
  /** Where the list was when the person began to move it, and until when scrolling is taken to be theirs. */
  readonly hand?: { readonly from: number; readonly until: number }
}

const handMs = 600
const letGoPx = 120
const edgePx = 24

export const touched = (latch: Latch, { now, top }: { now: number; top: number }): Latch => ({
  ...latch,
  hand: { from: latch.hand && latch.hand.until >= now ? latch.hand.from : top, until: now + handMs },
})

export function scrolled(
  latch: Latch,
  { now, top, distanceFromEnd }: { now: number; top: number; distanceFromEnd: number },
): Latch {
  if (!latch.hand || latch.hand.until < now) return latch
  if (distanceFromEnd <= edgePx) return { ...latch, following: true }
  return latch.following && latch.hand.from - top > letGoPx ? { ...latch, following: false } : latch
}
