import { readJunit } from '../readers/junit.ts'
import { readTrx } from '../readers/trx.ts'
import type { TestRunner } from '../form/test-runner.ts'

/** Runners that write result files by themselves, or when the project asks them to. Not seen running: their readers are unverified. */
export const maven: TestRunner = {
  name: 'maven',
  pattern: /\bmvnw?\b/,
  resultFiles: { pattern: /(^|\/)target\/(surefire|failsafe)-reports\/TEST-[^/]+\.xml$/, read: readJunit },
}

export const gradle: TestRunner = {
  name: 'gradle',
  pattern: /\bgradlew?\b/,
  resultFiles: { pattern: /(^|\/)build\/test-results\/.+\.xml$/, read: readJunit },
}

export const dotnet: TestRunner = {
  name: 'dotnet',
  pattern: /\bdotnet test\b/,
  resultFiles: { pattern: /(^|\/)TestResults\/.+\.trx$/, read: readTrx },
}

export const nextest: TestRunner = {
  name: 'nextest',
  pattern: /\bcargo nextest\b/,
  resultFiles: { pattern: /(^|\/)target\/nextest\/[^/]+\/[^/]+\.xml$/, read: readJunit },
}
