import { expect, it } from 'vitest'
import { scripted } from './scripted.ts'

it('plays the scenario of the sprint with this Node', () => {
  const { file, args } = scripted.command({ cwd: '/project', folder: '/attempt', sprintDir: '/sprint' })

  expect(file).toBe(process.execPath)
  expect(args[0]).toMatch(/\/scripted-agent\/main\.js$/)
  expect(args.slice(1)).toEqual(['--scenario', '/sprint/SCENARIO.yaml'])
})
