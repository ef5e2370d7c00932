import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { describe, expect, it } from 'vitest'
import { attemptOf } from '../../src/agents/supervise/attempt-token.ts'
import { findDriver } from '../../src/agents/drivers/registry.ts'
import { compile } from '../../src/compiler/compile.ts'
import { SprintId } from '../../src/contract/ids.ts'
import { aFolder } from '../support/folder.ts'
import { traversals } from './paths.ts'

const names = traversals()
const root = '/home/me/project/s'

/** What a name leads to below a folder, as soon as it is used for a file there. */
const isContained = (file: string): boolean => !file.includes('\0') && dirname(resolve(root, file)) === root

const compiled = (fields: Readonly<Record<string, unknown>>, asked: string[] = []) =>
  compile({
    sprint: { file: 'SPRINT.yaml', text: JSON.stringify({ workflow: 'w', goal: 'g', ...fields }) },
    readWorkflow: (name) => {
      asked.push(name)
      return { file: 'w.yaml', text: 'name: W\nmode: ralph\n' }
    },
    defaultSprintId: 'x',
    at: 0,
  })

describe(`${names.length} names that lead elsewhere`, () => {
  it('are enough', () => {
    expect(names.length).toBeGreaterThanOrEqual(200)
  })

  it('are no id of a sprint, unless they stay where they are', () => {
    const accepted = names.filter((name) => SprintId.safeParse(name).success)

    expect(accepted.filter((name) => !isContained(name) || name.startsWith('.'))).toEqual([])
    expect(accepted.length).toBeLessThan(names.length / 5)
  })

  it('are no name of a workflow that is looked for in another folder', () => {
    const asked: string[] = []
    for (const name of names) compiled({ workflow: name }, asked)

    expect(asked.filter((name) => !isContained(`${name}.yaml`))).toEqual([])
  })

  it('are no id of a hook whose output would be written elsewhere', () => {
    const accepted = names.filter(
      (id) => compiled({ 'per-iteration-hooks': [{ id, run: 'true' }] }).progress !== undefined,
    )

    const files = accepted.flatMap((id) => [`1-hook-${id}`, `iter-1-${id}.jsonl`])
    expect(files.filter((file) => !isContained(file))).toEqual([])
  })

  it('are no agent', () => {
    expect(names.filter((name) => findDriver(name) !== undefined)).toEqual([])
  })

  it('are no token of an attempt', () => {
    const folder = aFolder()
    mkdirSync(join(folder, 'attempts'))
    writeFileSync(join(folder, 'secret'), '')
    const before = readdirSync(folder, { recursive: true })
    const token = (name: string) => `ralph_mcp_${Buffer.from(join(folder, 'attempts', name)).toString('base64url')}.x`

    for (const name of names) expect(() => attemptOf(token(name))).toThrow(/token|cannot read/)
    expect(readdirSync(folder, { recursive: true })).toEqual(before)
  })
})
