import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { commonVersion, sendHello, readHello, sendWelcome, type Hello } from './greeting.ts'
import { createTransportPair } from './transport.ts'

const hello: Hello = {
  machineId: '00000000-0000-4000-8000-000000000001',
  speaks: { oldest: 1, newest: 1 },
  version: '0.1.0',
  bootEpoch: 1,
  bootId: '00000000-0000-4000-8000-000000000002',
  at: 1000,
}

describe('a greeting', () => {
  it('picks the newest version that both sides speak, or none if their versions are too far apart', () => {
    const pairs = [
      [
        { oldest: 1, newest: 1 },
        { oldest: 1, newest: 2 },
      ],
      [
        { oldest: 2, newest: 3 },
        { oldest: 1, newest: 2 },
      ],
      [
        { oldest: 1, newest: 1 },
        { oldest: 2, newest: 3 },
      ],
    ] as const
    expect(pairs.map(([theirs, ours]) => commonVersion(theirs, ours))).toEqual([1, 2, undefined])
  })

  it('is answered, and frames that follow it immediately are not lost', async () => {
    const [backend, machine] = createTransportPair(randomBytes(32))
    const greeted = sendHello(machine, hello)
    expect(await readHello(backend)).toEqual(hello)
    sendWelcome(backend, { epoch: 7, speaks: 1, version: '0.1.0', at: 1000 })
    backend.send('the first frame')
    expect((await greeted).epoch).toBe(7)
    const texts: string[] = []
    machine.onText((text) => void texts.push(text))
    await expect.poll(() => texts).toEqual(['the first frame'])
  })

  it('that is malformed ends the connection', async () => {
    const [backend, machine] = createTransportPair(randomBytes(32))
    const closed = new Promise((resolve) => machine.onClose(resolve))
    machine.send('{"hello":{}}')
    await expect(readHello(backend)).rejects.toMatchObject({ code: 'MACHINE_UNREACHABLE' })
    expect(await closed).toBe('malformed greeting')
  })
})
