import { expect, it } from 'vitest'
import { ralphHome } from './ralph-home.ts'

it('is RALPH_HOME, else in the home folder, never in the current folder', () => {
  expect(ralphHome({ env: { RALPH_HOME: '/r', HOME: '/h' } })).toBe('/r')
  expect(ralphHome({ env: { RALPH_HOME: '', HOME: '/h' } })).toBe('/h/.ralph')
  expect(ralphHome({ env: { HOME: '' } })).toBe('/.ralph')
})
