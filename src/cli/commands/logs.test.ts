import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { createTestIo } from '../../../test/support/test-io.ts'
import { buildProgress, noon, started } from '../../../test/support/builders.ts'
import { createTestFolder } from '../../../test/support/folder.ts'
import { openSprintStore } from '../../storage/sprint/sprint-store.ts'
import { applyFactToProgress } from '../../host/apply-fact.ts'
import { logs } from './logs.ts'

const agentText = (text: string, id = 'm') =>
  JSON.stringify({
    type: 'assistant',
    session_id: 's',
    message: { id, role: 'assistant', content: [{ type: 'text', text }] },
  })
const over = JSON.stringify({ type: 'result', subtype: 'success', is_error: false, result: 'x', session_id: 's' })

/** Creates a sprint with these transcripts, keyed by attempt. */
async function createRecordedSprint(transcripts: Readonly<Record<string, readonly string[]>>) {
  const dir = createTestFolder()
  const first = buildProgress({ agent: ['claude'] })
  const opened = await openSprintStore({ sprintDir: dir, fold: applyFactToProgress, now: () => noon }, first)
  await opened?.store.save(applyFactToProgress(first, started()), started())
  const write = (name: string, lines: readonly string[]) => {
    mkdirSync(join(stateFolder(dir), 'attempts', name), { recursive: true })
    writeFileSync(
      join(stateFolder(dir), 'attempts', name, 'transcript.jsonl'),
      lines.map((line) => `${line}\n`).join(''),
      {
        flag: 'a',
      },
    )
  }
  for (const [name, lines] of Object.entries(transcripts)) write(name, lines)
  return { dir, write, close: async () => opened?.store.close() }
}

describe('ralph logs', () => {
  it('shows every attempt of the last iteration, without its checks and hooks', async () => {
    const { dir, close } = await createRecordedSprint({
      '9-1': [agentText('early'), over],
      '10-1': [agentText('first try')],
      '10-2': [agentText('second try'), over],
      '10-hook-lint': ['hook'],
      '10-check-1': ['check'],
    })
    await close()
    const { io, text } = createTestIo()

    expect(await logs.run([dir], io)).toBe(0)

    expect(text()).toMatch(
      /^== iteration 10, attempt 1 [\s\S]*first try[\s\S]*== iteration 10, attempt 2 [\s\S]*second try/,
    )
    expect(text()).not.toMatch(/early|hook|check/)
  })

  it('prints the events of the given iteration as JSON', async () => {
    const { dir, close } = await createRecordedSprint({ '1-1': [agentText('one')], '2-1': [agentText('two')] })
    await close()
    const { io, printed } = createTestIo()

    await logs.run([dir, '--iteration', '1', '--json'], io)

    expect(printed.map((line): unknown => JSON.parse(line))).toContainEqual({
      type: 'agent',
      iteration: 1,
      attempt: 1,
      event: { kind: 'text', text: 'one' },
    })
    expect(printed.join()).not.toContain('two')
  })

  it('says so if the filter matches nothing', async () => {
    const { dir, close } = await createRecordedSprint({ '1-1': [agentText('one'), over] })
    await close()
    const { io, printed } = createTestIo()

    await logs.run([dir, '--tool', 'Bash'], io)

    expect(printed).toEqual(['no matching events in iteration 1'])
  })

  it.each([
    ['an iteration without a transcript', { '3-1': ['x'] }, ['--iteration', '9'], /iteration 9/],
    ['a sprint that no agent has worked on', {}, [], /no transcript yet/],
    ['a number that is none', {}, ['--iteration', 'last'], /--iteration/],
  ])('refuses %s', async (_, transcripts, args, message) => {
    const { dir, close } = await createRecordedSprint(transcripts)
    await close()

    await expect(logs.run([dir, ...args], createTestIo().io)).rejects.toThrow(message)
  })

  it('follows the next attempts while the sprint runs, and ends with it', async () => {
    const { dir, write, close } = await createRecordedSprint({ '1-1': [agentText('one')] })
    const { io, text } = createTestIo()
    const following = logs.run([dir, '--follow'], io)
    await expect.poll(text, { timeout: 5000 }).toContain('one')
    write('1-1', [agentText('more', 'm2'), over])
    write('2-1', [agentText('two')])
    await expect.poll(text, { timeout: 5000 }).toContain('two')
    await close()

    expect(await following).toBe(0)
    expect(text()).toMatch(/one[\s\S]*more[\s\S]*== iteration 2, attempt 1[\s\S]*two/)
  })

  it('prints nothing that a terminal would interpret', async () => {
    const { dir, close } = await createRecordedSprint({ '1-1': [agentText('\u001b[2J\u001b[31mred\u001b[0m\u0007')] })
    await close()
    const { io, text } = createTestIo()

    await logs.run([dir], io)

    expect(text()).toContain('red')
    // oxlint-disable-next-line no-control-regex -- what must not be there
    expect(text()).not.toMatch(/[\u001b\u0007]/)
  })
})
