import { expect, it } from 'vitest'
import { auditToCsv, describeAuditAction, matchesAudit } from './audit-words.ts'

const entry = {
  id: '1',
  at: 0,
  who: '=cmd',
  what: 'startRalphMode',
  target: '7',
  details: { name: 'api, "the" server' },
}

it('names an action in words and finds it by them', () => {
  const actions = ['startRalphMode', 'makeJoinToken', 'changeUser', 'signIn', 'join', 'joinRefused', 'tellSprint']
  expect(actions.map(describeAuditAction)).toEqual([
    'started Ralph Mode',
    'created join token',
    'changed user',
    'signed in',
    'joined',
    'was refused as a machine',
    'messaged sprint',
  ])
  expect(matchesAudit(entry, 'Started ralph')).toBe(true)
  expect(matchesAudit(entry, 'startralph')).toBe(true)
  expect(matchesAudit(entry, 'somewhere')).toBe(false)
})

it('writes CSV that a spreadsheet neither splits nor runs', () => {
  expect(auditToCsv([entry])).toBe(
    'when,who,what,object,id,details\r\n1970-01-01T00:00:00.000Z,\'=cmd,startRalphMode,"api, ""the"" server",7,"{""name"":""api, \\""the\\"" server""}"\r\n',
  )
})
