import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { identifyProcess } from '../../platform/processes/process-table.ts'
import { readAttemptSprint, resolveAttemptToken, createAttemptToken } from './attempt-token.ts'

/** The folder of an attempt whose process is this one, and so is alive. */
function createLiveAttempt(name = '1-1') {
  const folder = join(createTestFolder(), name)
  mkdirSync(folder)
  const { token, files } = createAttemptToken(folder, '/sprint')
  for (const [file, text] of Object.entries(files)) writeFileSync(join(folder, file), text)
  const { pid, bootId, startTime } = identifyProcess(process.pid)
  const stat = [...Array.from({ length: 19 }, () => '0'), startTime].join(' ')
  writeFileSync(join(folder, 'pid'), `${pid} ${bootId} ${stat}\n`)
  return { folder, token }
}

const [, secret = ''] = createAttemptToken('somewhere', '/sprint').token.split('.')

it('identifies the attempt that it was created for', () => {
  const { folder, token } = createLiveAttempt()

  expect(resolveAttemptToken(token)).toBe(folder)
  expect(readAttemptSprint(folder)).toBe('/sprint')
})

it('finds the sprint of an attempt that the version before started', () => {
  const { folder, token } = createLiveAttempt()
  const [hash = ''] = readFileSync(join(folder, 'mcp-token'), 'utf8').split('\n')
  writeFileSync(join(folder, 'mcp-token'), `${hash}\n`)
  writeFileSync(join(folder, 'sprint'), '/old sprint')

  expect(resolveAttemptToken(token)).toBe(folder)
  expect(readAttemptSprint(folder)).toBe('/old sprint')
})

it('is different for every attempt, and not stored in its folder', () => {
  const { folder, token } = createLiveAttempt()
  const [place, own = ''] = token.split('.')

  expect(createAttemptToken(folder, '/sprint').token).not.toBe(token)
  expect(createAttemptToken(folder, '/sprint').token.split('.')[0]).toBe(place)
  for (const file of readdirSync(folder)) expect(readFileSync(join(folder, file), 'utf8')).not.toContain(own)
})

it('expires when the attempt is over', () => {
  const { folder, token } = createLiveAttempt()
  writeFileSync(join(folder, 'exit'), '0\n')

  expect(() => resolveAttemptToken(token)).toThrow(expect.objectContaining({ code: 'NOT_RUNNING' }))
})

it.each([
  ['no token', () => undefined],
  ['an empty one', () => ''],
  ['another secret', () => `${Buffer.from(createLiveAttempt().folder).toString('base64url')}.${secret}`],
  ['the secret of another attempt', () => stolen()],
  ['a folder that is none', () => `${Buffer.from('/nowhere').toString('base64url')}.${secret}`],
  ['a folder without a token', () => `${Buffer.from(createTestFolder()).toString('base64url')}.${secret}`],
])('refuses %s', (_, token) => {
  expect(() => resolveAttemptToken(token())).toThrow(expect.objectContaining({ code: 'TOKEN_INVALID' }))
})

function stolen(): string {
  const [place] = createLiveAttempt('1-1').token.split('.')
  const [, own] = createLiveAttempt('2-1').token.split('.')
  return `${place}.${own}`
}
