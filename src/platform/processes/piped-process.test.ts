import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { startPiped } from './piped-process.ts'

const node = (script: string) => startPiped(process.execPath, ['-e', script], process.cwd())

it('talks to a program and tells how it ended', async () => {
  const { stdin, stdout, exited } = await node('process.stdin.pipe(process.stdout); process.exitCode = 3')
  stdin.end('hello')

  expect(await text(stdout)).toBe('hello')
  expect(await exited).toBe('exit code 3')
})

it('is refused for a program that is not there', async () => {
  await expect(startPiped('/no/such/program', [], process.cwd())).rejects.toMatchObject({ code: 'ENOENT' })
})

it('ends a program that ends with its input, and one that ends with nothing but KILL', async () => {
  const polite = await node('process.stdin.resume()')
  await polite.end(2000)
  expect(await polite.exited).toBe('exit code 0')

  const stubborn = await node("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')")
  await new Promise((resolve) => stubborn.stdout.once('data', resolve))
  await stubborn.end(100)
  expect(await stubborn.exited).toBe('SIGKILL')
})
