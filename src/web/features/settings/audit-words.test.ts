import { expect, it } from 'vitest'
import { auditToCsv, describeAuditAction, matchesAudit } from './audit-words.ts'

const entry = {
  id: '1',
  at: 0,
  who: '=cmd',
  what: 'startRalphMode',
  target: 'api, "the" server',
  details: { after: 1 },
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
    'when,who,what,object,details\r\n1970-01-01T00:00:00.000Z,\'=cmd,startRalphMode,"api, ""the"" server","{""after"":1}"\r\n',
  )
})
