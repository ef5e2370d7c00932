import { expect, it } from 'vitest'
import { scripted } from './scripted.ts'

it('plays the scenario of the sprint with this Node', () => {
  const { file, args } = scripted.command({ cwd: '/project', folder: '/attempt', sprintDir: '/sprint' })

  expect(file).toBe(process.execPath)
  expect(args[0]).toMatch(/\/scripted-agent\/main\.js$/)
  expect(args.slice(1)).toEqual(['--scenario', '/sprint/SCENARIO.yaml'])
})

it('reports a session like Claude Code, but cannot resume one', () => {
  const reader = scripted.read()
  reader.parse('{"type":"system","subtype":"init","session_id":"s-1"}')
  reader.parse('{"type":"result","subtype":"success","is_error":false,"result":"done"}')

  expect(reader.finish({ code: 0, signal: null, stderrTail: '' })).toMatchObject({
    status: 'ok',
    sessionId: 's-1',
    resumable: false,
  })
})
