import { expect, it } from 'vitest'
import { updateOnScroll, updateOnUserScroll } from './follow.ts'

const following = { following: true }

it('does not end because of a layout shift', () => {
  expect(updateOnScroll(following, { now: 5000, top: 0, distanceFromEnd: 900 })).toEqual(following)
})

it('ends when the user scrolls away, not on a tiny movement', () => {
  const inHand = updateOnUserScroll(following, { now: 0, top: 1000 })
  expect(updateOnScroll(inHand, { now: 100, top: 950, distanceFromEnd: 50 }).following).toBe(true)
  expect(updateOnScroll(inHand, { now: 100, top: 800, distanceFromEnd: 200 }).following).toBe(false)
})

it('measures a slow movement from its start', () => {
  const later = updateOnUserScroll(updateOnUserScroll(following, { now: 0, top: 1000 }), { now: 300, top: 930 })
  expect(updateOnScroll(later, { now: 400, top: 870, distanceFromEnd: 130 }).following).toBe(false)
})

it('ends when the wheel turns far enough, however late the browser scrolls', () => {
  const turned = updateOnUserScroll(updateOnUserScroll(following, { now: 0, top: 1000, pushed: 100 }), {
    now: 50,
    top: 1000,
    pushed: 100,
  })
  expect([updateOnUserScroll(following, { now: 0, top: 1000, pushed: 100 }).following, turned.following]).toEqual([
    true,
    false,
  ])
})

it('resumes when the user scrolls back to the end', () => {
  const away = updateOnUserScroll({ following: false }, { now: 0, top: 500 })
  expect(updateOnScroll(away, { now: 10, top: 990, distanceFromEnd: 10 }).following).toBe(true)
})
