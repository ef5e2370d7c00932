import { appendFile, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestFolder } from '../../test/support/folder.ts'
import { openDiskMailbox } from './disk-mailbox.ts'

const createMessage = (id: string, body: unknown = null) => ({ id, type: 'prompt', body })
const listIds = (messages: readonly { readonly id: string }[]) => messages.map(({ id }) => id)

describe('a mailbox on disk', () => {
  it('restores unsent, received and unfinished messages after a restart', async () => {
    const path = join(createTestFolder(), 'mailbox.log')
    const first = await openDiskMailbox(path)
    expect([
      await first.store(createMessage('a')),
      await first.store(createMessage('b')),
      await first.store(createMessage('a')),
    ]).toEqual(['new', 'new', 'seen'])
    await first.send(createMessage('ended-a'), 'a')
    await first.send(createMessage('other'))
    await first.acked(1)
    await first.close()
    const second = await openDiskMailbox(path)
    expect(listIds(second.open())).toEqual(['b'])
    expect(listIds(await second.pending(0, 10))).toEqual(['other'])
    expect(await second.store(createMessage('a'))).toBe('seen')
    await second.send(createMessage('third'))
    expect((await second.pending(0, 10)).map(({ id }) => id)).toEqual(['other', 'ended-a', 'third'])
    await second.close()
  })

  it('drops a line that was being written at a power loss, and forgets old ids', async () => {
    const path = join(createTestFolder(), 'mailbox.log')
    const first = await openDiskMailbox(path, () => 0)
    await first.store(createMessage('old'))
    await first.settle('old')
    await first.store(createMessage('open'))
    await first.close()
    await appendFile(path, '0badc0de {"kind":"in","at"')
    const second = await openDiskMailbox(path, () => 8 * 86_400_000)
    expect(listIds(second.open())).toEqual(['open'])
    expect([await second.store(createMessage('open')), await second.store(createMessage('old'))]).toEqual([
      'seen',
      'new',
    ])
    await second.close()
  })

  it('repeats the reply when the message is delivered again', async () => {
    const path = join(createTestFolder(), 'mailbox.log')
    const first = await openDiskMailbox(path)
    await first.store(createMessage('a'))
    await first.send(createMessage('ended-a', { at: 1 }), 'a')
    await first.acked(1)
    await first.close()
    const second = await openDiskMailbox(path)
    expect(await second.store(createMessage('a'))).toBe('seen')
    expect(await second.store(createMessage('a'))).toBe('seen')
    expect(await second.pending(0, 10)).toEqual([{ position: 2, ...createMessage('ended-a', { at: 1 }) }])
    await second.close()
  })

  it('stays short however many messages pass through it, and loses none', async () => {
    const path = join(createTestFolder(), 'mailbox.log')
    const mailbox = await openDiskMailbox(path)
    const text = 'x'.repeat(100_000)
    for (let n = 1; n <= 100; n++) {
      await Promise.all([
        mailbox.store(createMessage(`in-${n}`, text)),
        mailbox.send(createMessage(`out-${n}`), `in-${n - 1}`),
      ])
      await mailbox.acked(n - 1)
    }
    expect((await stat(path)).size).toBeLessThan(10 * 1024 * 1024)
    expect(listIds(mailbox.open())).toEqual(['in-100'])
    expect(listIds(await mailbox.pending(0, 10))).toEqual(['out-100'])
    await mailbox.close()
    const again = await openDiskMailbox(path)
    expect(await again.store(createMessage('in-7'))).toBe('seen')
    await again.close()
  })

  it('skips a damaged line and keeps the rest', async () => {
    const path = join(createTestFolder(), 'mailbox.log')
    const first = await openDiskMailbox(path)
    for (const id of ['a', 'b', 'c']) await first.store(createMessage(id))
    await first.close()
    await writeFile(path, (await readFile(path, 'utf8')).replace('"id":"b"', '"id":"x"'))
    const second = await openDiskMailbox(path)
    expect(listIds(second.open())).toEqual(['a', 'c'])
    await second.close()
  })
})
