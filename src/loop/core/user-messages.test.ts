import { describe, expect, it } from 'vitest'
import { after, buildProgress, emittedEvents, noon, started } from '../../../test/support/builders.ts'
import type { Fact } from './fact.ts'

const says = (text: string, at: number, by?: string): Fact => ({
  type: 'told',
  at,
  text,
  now: false,
  ...(by !== undefined && { by }),
})
const withdraws = (messageAt: number): Fact => ({ type: 'message-withdrawn', at: noon + 9, messageAt, by: 'ada' })

describe('a message of a user', () => {
  it('is an event with the name of the user, and waits in the inbox', () => {
    const { progress, orders } = after(buildProgress(), started(), says('use Rust', noon + 5, 'ada'))
    expect(emittedEvents(orders)).toEqual([
      { type: 'user-said', iteration: 1, how: 'message', text: 'use Rust', by: 'ada' },
    ])
    expect(progress.messages).toEqual([{ text: 'use Rust', at: noon + 5, by: 'ada' }])
  })

  it('is withdrawn as long as no prompt contains it', () => {
    const { progress, orders } = after(
      buildProgress(),
      started(),
      says('use Rust', noon + 5, 'ada'),
      says('use Zig', noon + 6, 'ada'),
      withdraws(noon + 5),
    )
    expect(progress.messages).toEqual([{ text: 'use Zig', at: noon + 6, by: 'ada' }])
    expect(emittedEvents(orders)).toEqual([
      { type: 'user-said', iteration: 1, how: 'withdraw', text: 'use Rust', by: 'ada' },
    ])
  })

  it('cannot be withdrawn once the agent has it, or if there is none', () => {
    expect(() => after(buildProgress(), started(), withdraws(noon + 1))).toThrow('has that message already')
    expect(() => after(buildProgress(), says('use Rust', noon - 9, 'ada'), started(), withdraws(noon - 9))).toThrow(
      'has that message already',
    )
  })
})
