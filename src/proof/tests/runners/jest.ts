import type { TestRunner } from '../form/test-runner.ts'
import { readJestJson } from './jest-json.ts'
import { selectByPattern } from './name-pattern.ts'
import { loadHook } from './node-options.ts'

export const jest: TestRunner = {
  name: 'jest',
  recorded: '30.5',
  pattern: /\b(jest|react-scripts test)\b/,
  reporter: { environment: (place) => [loadHook(place)] },
  readReport: readJestJson,
  select: selectByPattern,
}
