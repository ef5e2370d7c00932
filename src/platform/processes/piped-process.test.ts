import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { startPipedProcess } from './piped-process.ts'

const node = (script: string) => startPipedProcess(process.execPath, ['-e', script], process.cwd())

it('exchanges text with a program and reports how it ended', async () => {
  const { stdin, stdout, exited } = await node('process.stdin.pipe(process.stdout); process.exitCode = 3')
  stdin.end('hello')

  expect(await text(stdout)).toBe('hello')
  expect(await exited).toBe('exit code 3')
})

it('rejects if the program does not exist', async () => {
  await expect(startPipedProcess('/no/such/program', [], process.cwd())).rejects.toMatchObject({ code: 'ENOENT' })
})

it('ends a program that exits at the end of input, and one that exits only on KILL', async () => {
  const polite = await node('process.stdin.resume()')
  await polite.end(2000)
  expect(await polite.exited).toBe('exit code 0')

  const stubborn = await node("process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.log('up')")
  await new Promise((resolve) => stubborn.stdout.once('data', resolve))
  await stubborn.end(100)
  expect(await stubborn.exited).toBe('SIGKILL')
})
