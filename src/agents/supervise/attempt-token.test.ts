import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { aFolder } from '../../../test/support/folder.ts'
import { processId } from '../../platform/processes/process-table.ts'
import { attemptOf, newToken } from './attempt-token.ts'

/** The folder of an attempt whose process is this one, and so is alive. */
function anAttempt(name = '1-1') {
  const folder = join(aFolder(), name)
  mkdirSync(folder)
  const { token, files } = newToken(folder)
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  const { pid, bootId, startTime } = processId(process.pid)
  const stat = [...Array.from({ length: 19 }, () => '0'), startTime].join(' ')
  writeFileSync(join(folder, 'pid'), `${pid} ${bootId} ${stat}\n`)
  return { folder, token }
}

const [, secret = ''] = newToken('somewhere').token.split('.')

it('identifies the attempt that it was created for', () => {
  const { folder, token } = anAttempt()

  expect(attemptOf(token)).toBe(folder)
})

it('is different for every attempt, and not stored in its folder', () => {
  const { folder, token } = anAttempt()
  const [place, own = ''] = token.split('.')

  expect(newToken(folder).token).not.toBe(token)
  expect(newToken(folder).token.split('.')[0]).toBe(place)
  for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file), 'utf8')).not.toContain(own)
})

it('expires when the attempt is over', () => {
  const { folder, token } = anAttempt()
  writeFileSync(join(folder, 'exit'), '0\n')

  expect(() => attemptOf(token)).toThrow(expect.objectContaining({ code: 'NOT_RUNNING' }))
})

it.each([
  ['no token', () => undefined],
  ['an empty one', () => ''],
  ['another secret', () => `${Buffer.from(anAttempt().folder).toString('base64url')}.${secret}`],
  ['the secret of another attempt', () => stolen()],
  ['a folder that is none', () => `${Buffer.from('/nowhere').toString('base64url')}.${secret}`],
  ['a folder without a token', () => `${Buffer.from(aFolder()).toString('base64url')}.${secret}`],
])('refuses %s', (_, token) => {
  expect(() => attemptOf(token())).toThrow(expect.objectContaining({ code: 'TOKEN_INVALID' }))
})

function stolen(): string {
  const [place] = anAttempt('1-1').token.split('.')
  const [, own] = anAttempt('2-1').token.split('.')
  return `${place}.${own}`
}
