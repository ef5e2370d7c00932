import { expect, it } from 'vitest'
import { buildIteration, buildSprint, createFakeId } from '../../../../test/support/fake-fleet.ts'
import { renderExport } from './export-html.ts'

it('escapes all foreign text', () => {
  const hostile = `</pre><script>alert(1)</script><img src=x onerror='alert(2)'>"`
  const sprint = buildSprint(hostile, createFakeId('agent'))
  const event = { type: 'agent', iteration: 1, attempt: 1, event: { kind: 'text', text: hostile } } as const
  const html = renderExport(
    sprint,
    [buildIteration(1, { summary: hostile })],
    [{ id: '1', agentId: sprint.agentId, seq: 1, at: 0, event }],
  )
  expect(html.match(/<(script|img)/g)).toBeNull()
  expect(html).toContain('&#60;script&#62;')
  expect(html).toContain("default-src 'none'")
})
