import { describe, expect, it } from 'vitest'
import { createTestIo } from '../../../test/support/test-io.ts'
import { buildProgress, noon } from '../../../test/support/builders.ts'
import { createLiveView, repaintLines } from './live-view.ts'

describe('repaint', () => {
  it('sends everything at first, then only the changed lines', () => {
    expect(repaintLines([], ['a', 'b'])).toBe('\r\u001b[2Ka\n\u001b[2Kb')
    expect(repaintLines(['a', 'b', 'c'], ['a', 'x', 'c'])).toBe('\r\u001b[2A\u001b[1B\r\u001b[2Kx\u001b[1B\r')
    expect(repaintLines(['a'], ['a', 'b'])).toBe('\r\n\u001b[2Kb')
  })

  it('clears the rest of a longer picture', () => {
    expect(repaintLines(['a', 'b', 'c'], ['a'])).toBe('\r\u001b[2A\u001b[1B\r\u001b[J\u001b[1A')
  })
})

describe('the live view on a terminal', () => {
  it('redraws on an empty screen when the size changes, and restores the cursor at the end', () => {
    let columns = 100
    const { io, printed } = createTestIo({ columns: () => columns })
    const view = createLiveView(io, {
      progress: () => buildProgress({ status: 'in-progress' }),
      agent: 'claude',
      project: '/p',
    })
    columns = 60
    view.footer('hint')
    const resized = printed.at(-1) ?? ''
    view.close()
    view.close()

    expect(resized.startsWith('\u001b[2J\u001b[H\r\u001b[2Kralph')).toBe(true)
    expect(resized.endsWith('hint')).toBe(true)
    expect(printed.filter((text) => text === '\n\u001b[?25h')).toHaveLength(1)
  })

  it('leaves no question on the screen that is printed below', () => {
    const question = { reason: 'Which database?', details: 'Both exist.', askedAt: noon }
    const { io, printed } = createTestIo()
    const progress = () => buildProgress({ status: 'needs-human', humanNeeded: question })
    createLiveView(io, { progress, agent: 'claude', project: '/p' }).close()

    expect(printed.filter((text) => text.includes('Which database?'))).toHaveLength(1)
  })
})
