import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTestFolder } from '../../../test/support/folder.ts'
import { noUsage, type Outcome } from '../../contract/outcome.ts'
import { readReport } from '../../loop/ways/goal/goal-report.ts'
import { storeMcpReport, withMcpReport } from './mcp-report.ts'

const createOutcome = (text: string, status: Outcome['status'] = 'ok'): Outcome => ({
  status,
  retryable: false,
  resumable: false,
  text,
  usage: noUsage,
})
const onward = { status: 'continue', summary: 'half', completedStepIds: ['step-1'], pendingSteps: [] }

it('counts like a block in the final message', async () => {
  const folder = createTestFolder()
  await storeMcpReport(folder, onward)

  const { text } = withMcpReport(createOutcome('That was it.'), folder)

  expect(readReport(text, 'prompt')).toEqual({ kind: 'report', report: onward })
})

it('gives way to a later block in the final message', async () => {
  const folder = createTestFolder()
  await storeMcpReport(folder, onward)
  const later = { status: 'continue', summary: 'later', completedStepIds: [], pendingSteps: [] }

  const { text } = withMcpReport(createOutcome(`\`\`\`json\n${JSON.stringify(later)}\n\`\`\``), folder)

  expect(readReport(text, 'prompt')).toEqual({ kind: 'report', report: later })
})

it('keeps the steps that were reported before', async () => {
  const folder = createTestFolder()
  await storeMcpReport(folder, { ...onward, pendingSteps: [{ id: null, prompt: 'more' }] })
  await storeMcpReport(folder, { status: 'goal-complete', summary: 'all', completedStepIds: ['step-2'] })

  expect(JSON.parse(readFileSync(join(folder, 'told', 'report.json'), 'utf8'))).toEqual({
    status: 'goal-complete',
    summary: 'all',
    completedStepIds: ['step-1', 'step-2'],
    pendingSteps: [{ id: null, prompt: 'more' }],
  })
})

it.each([
  ['there is none', undefined, 'ok'],
  ['it is cut off', '{"status": "con', 'ok'],
  ['the attempt has failed', JSON.stringify(onward), 'failed'],
] as const)('changes nothing where %s', (_, file, status) => {
  const folder = createTestFolder()
  if (file !== undefined) {
    mkdirSync(join(folder, 'told'))
    writeFileSync(join(folder, 'told', 'report.json'), file)
  }

  expect(withMcpReport(createOutcome('as it was', status), folder)).toEqual(createOutcome('as it was', status))
})
