import { expect, it } from 'vitest'
import { scrolled, touched } from './follow.ts'

const following = { following: true }

it('does not end because of a layout shift', () => {
  expect(scrolled(following, { now: 5000, top: 0, distanceFromEnd: 900 })).toEqual(following)
})

it('ends when the user scrolls away, not on a tiny movement', () => {
  const inHand = touched(following, { now: 0, top: 1000 })
  expect(scrolled(inHand, { now: 100, top: 950, distanceFromEnd: 50 }).following).toBe(true)
  expect(scrolled(inHand, { now: 100, top: 800, distanceFromEnd: 200 }).following).toBe(false)
})

it('measures a slow movement from its start', () => {
  const later = touched(touched(following, { now: 0, top: 1000 }), { now: 300, top: 930 })
  expect(scrolled(later, { now: 400, top: 870, distanceFromEnd: 130 }).following).toBe(false)
})

it('ends when the wheel turns far enough, however late the browser scrolls', () => {
  const turned = touched(touched(following, { now: 0, top: 1000, pushed: 100 }), { now: 50, top: 1000, pushed: 100 })
  expect([touched(following, { now: 0, top: 1000, pushed: 100 }).following, turned.following]).toEqual([true, false])
})

it('resumes when the user scrolls back to the end', () => {
  const away = touched({ following: false }, { now: 0, top: 500 })
  expect(scrolled(away, { now: 10, top: 990, distanceFromEnd: 10 }).following).toBe(true)
})
