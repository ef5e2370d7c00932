import { describe, expect, it } from 'vitest'
import { recorded, replay, withoutTexts } from '../../test/fixtures/transcripts/recorded.ts'
import { AgentEvent } from '../contract/events.ts'
import { getDriver } from './drivers/registry.ts'

describe.each(['claude', 'codex', 'gemini', 'opencode', 'acp', 'command'])('the streams that %s printed', (name) => {
  const driver = getDriver(name)

  it.each(recorded(name))('$name', (stream) => {
    const { events, outcome } = replay(driver, stream)

    expect(withoutTexts(outcome)).toEqual(stream.expected)
    expect(events.map((event) => AgentEvent.parse(event))).toEqual(events)
  })

  it.each(recorded(name))('$name fails when it is cut off before its end', (stream) => {
    const { events, outcome } = replay(driver, { ...stream, lines: stream.lines.slice(0, -1), exit: killed })

    const ended = events.some(({ kind }) => kind === 'terminal')
    expect(ended || outcome.status === 'failed').toBe(true)
  })
})

const killed = { code: null, signal: 'SIGKILL', stderrTail: '' }
