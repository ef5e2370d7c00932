import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { resolveAttemptToken } from '../../src/agents/supervise/attempt-token.ts'
import { findDriver } from '../../src/agents/drivers/registry.ts'
import { compile } from '../../src/compiler/compile.ts'
import { SprintId } from '../../src/contract/ids.ts'
import { createTestFolder } from '../support/folder.ts'
import { traversals } from './paths.ts'

const names = traversals()
const root = '/home/me/project/s'

/** Where a name leads below a folder, once it is used as a file name there. */
const isContained = (file: string): boolean => !file.includes('\0') && dirname(resolve(root, file)) === root

const compiled = (fields: Readonly<Record<string, unknown>>, readNames: string[] = []) =>
  compile({
    sprint: { file: 'SPRINT.yaml', text: JSON.stringify({ workflow: 'w', goal: 'g', ...fields }) },
    readWorkflow: (name) => {
      readNames.push(name)
      return { file: 'w.yaml', text: 'name: W\nmode: ralph\n' }
    },
    defaultSprintId: 'x',
    at: 0,
  })

describe(`${names.length} names that lead to another folder`, () => {
  it('are plenty', () => {
    expect(names.length).toBeGreaterThanOrEqual(200)
  })

  it('are rejected as ids of sprints, unless they stay in place', () => {
    const accepted = names.filter((name) => SprintId.safeParse(name).success)

    expect(accepted.filter((name) => !isContained(name) || name.startsWith('.'))).toEqual([])
    expect(accepted.length).toBeLessThan(names.length / 5)
  })

  it('are rejected as names of workflows, unless they stay in the folder', () => {
    const readNames: string[] = []
    for (const name of names) compiled({ workflow: name }, readNames)

    expect(readNames.filter((name) => !isContained(`${name}.yaml`))).toEqual([])
  })

  it('are rejected as ids of hooks, whose output would be written elsewhere', () => {
    const accepted = names.filter(
      (id) => compiled({ 'per-iteration-hooks': [{ id, run: 'true' }] }).progress !== undefined,
    )

    const files = accepted.flatMap((id) => [`1-hook-${id}`, `iter-1-${id}.jsonl`])
    expect(files.filter((file) => !isContained(file))).toEqual([])
  })

  it('are rejected as agents', () => {
    expect(names.filter((name) => findDriver(name) !== undefined)).toEqual([])
  })

  it('are rejected as tokens of attempts', () => {
    const folder = createTestFolder()
    mkdirSync(join(folder, 'attempts'))
    writeFileSync(join(folder, 'secret'), '')
    const before = readdirSync(folder, { recursive: true })
    const token = (name: string) => `ralph_mcp_${Buffer.from(join(folder, 'attempts', name)).toString('base64url')}.x`

    for (const name of names) expect(() => resolveAttemptToken(token(name))).toThrow(/token|cannot read/)
    expect(readdirSync(folder, { recursive: true })).toEqual(before)
  })
})
