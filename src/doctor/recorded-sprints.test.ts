import { cpSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../test/support/folder.ts'
import type { Progress } from '../contract/progress.ts'
import { advance } from '../loop/advance.ts'
import type { Fact } from '../loop/core/fact.ts'
import type { Order } from '../loop/core/order.ts'
import { parseProgress } from '../storage/state/progress-file.ts'
import { formatProgress } from '../storage/state/progress-text.ts'
import { readProgress } from '../storage/state/read-progress.ts'

const recordings = join(import.meta.dirname, '../../test/fixtures/v0.1.0')

/** Sprints of version 0.1.0 (commit 2e34663): journal, PROGRESS.yaml, and the orders that followed each fact. */
describe.each(['goal', 'notes', 'phases'])('the sprint with the way %s that version 0.1.0 wrote', (name) => {
  const text = readFileSync(join(recordings, name, 'PROGRESS.yaml'), 'utf8')

  it('is replayed from its journal with the same orders and the same PROGRESS.yaml, byte for byte', async () => {
    const { progress, orders } = await replay(name)

    expect(withoutNewLines(formatProgress(withoutNewFields(progress)))).toBe(withoutNewLines(text))
    expect(JSON.parse(JSON.stringify(orders.map(withoutNewEvents)))).toEqual(
      JSON.parse(readFileSync(join(recordings, name, 'orders.json'), 'utf8')),
    )
  })

  it('is read from its PROGRESS.yaml and continues', () => {
    const progress = parseProgress(text, 'PROGRESS.yaml')
    const next = advance(progress, { type: 'started', at: progress.stats.updatedAt ?? 0, agents: ['claude'] })

    expect(next.progress).toMatchObject({ rev: progress.rev + 1, status: 'in-progress' })
    const wait = next.orders.find((order) => order.type === 'wait')
    const { orders } = wait
      ? advance(next.progress, { type: 'wait-ended', at: wait.until, iteration: wait.iteration })
      : next
    expect(orders).toContainEqual(expect.objectContaining({ type: 'run-attempt' }))
  })
})

/** What later versions added: an answer repeats the details of its question. */
function withoutNewFields({ answer, ...progress }: Progress): Progress {
  if (!answer) return progress
  const { details: _, options: _options, ...known } = answer
  return { ...progress, answer: known }
}

/** What later versions write: another page in the first line, and the position of the sprint as seed 004 has it. */
const withoutNewLines = (text: string): string =>
  text
    .replace(/^# Written by Ralph; .*\n/, '')
    .replace(/^current:\n(?: {2}.*\n)+/m, '')
    .replace(/^parallel-tasks:(?: \[\]\n|\n(?: {2}.*\n)+)/m, '')

/** What later versions added: an iteration that ends names its mode. */
const withoutNewEvents = (orders: readonly Order[]) =>
  orders.map((order) =>
    order.type === 'tell' && order.event.type === 'iteration-ended'
      ? { ...order, event: { ...order.event, mode: undefined } }
      : order,
  )

async function replay(
  name: string,
): Promise<{ readonly progress: Progress; readonly orders: readonly (readonly Order[])[] }> {
  const sprintDir = createTestFolder()
  cpSync(join(recordings, name), sprintDir, { recursive: true })
  const orders: (readonly Order[])[] = []
  const fold = (before: Progress, fact: Fact) => {
    const next = advance(before, fact)
    orders.push(next.orders)
    return next.progress
  }
  const progress = await readProgress({ sprintDir, fold })
  if (!progress) throw new Error(`${name} has no journal`)
  return { progress, orders }
}
