import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { buildProgress, buildStep, buildSteps } from '../../../test/support/builders.ts'
import type { Progress } from '../../contract/progress.ts'
import { readExternalEdit } from './external-edit.ts'
import { formatProgress } from '../state/progress-text.ts'

type File = { status: string; 'dynamic-steps': Record<string, unknown>[]; [name: string]: unknown }

const running = (overrides: Partial<Progress> = {}) =>
  buildProgress({ rev: 7, status: 'in-progress', dynamicSteps: buildSteps('one', 'two', 'three'), ...overrides })

/** The result of reading the file after this change. */
function edited(base: Progress, change: (file: File) => void) {
  const file: File = parse(formatProgress(base))
  change(file)
  return readExternalEdit(stringify(file), (rev) => (rev === base.rev ? base : undefined))
}

/** Only the refused changes. */
function found(base: Progress, change: (file: File) => void) {
  const edit = edited(base, change)
  if (edit.kind !== 'edited') throw new Error(`${edit.kind}: ${edit.reason}`)
  return { edits: edit.edits, refused: edit.refused }
}

const findStep = (file: File, number: number) => file['dynamic-steps'][number] ?? {}

describe('an edit of PROGRESS.yaml', () => {
  it('is empty if only the formatting changed', () => {
    expect(found(running(), () => {})).toEqual({ edits: [], refused: [] })
    const commented = `# mine\n${formatProgress(running())}\n`
    expect(readExternalEdit(commented, () => running())).toMatchObject({ edits: [], refused: [] })
  })

  it('can add a step, with or without an id', () => {
    const added = (id: string) => (file: File) =>
      void file['dynamic-steps'].push({ id, prompt: 'four', status: 'pending', 'added-at': 'sometime' })

    expect(found(running(), added('step-99')).edits).toEqual([{ kind: 'step-added', prompt: 'four', id: 'step-99' }])
    expect(found(running(), added('step-1')).edits).toEqual([{ kind: 'step-added', prompt: 'four' }])
  })

  it('can complete, reword and reorder pending steps', () => {
    expect(found(running(), (file) => (findStep(file, 1)['status'] = 'completed')).edits).toEqual([
      { kind: 'step-completed', id: 'step-1' },
    ])
    expect(found(running(), (file) => (findStep(file, 2)['prompt'] = 'better')).edits).toEqual([
      { kind: 'step-reworded', id: 'step-2', prompt: 'better' },
    ])
    expect(found(running(), (file) => (file['dynamic-steps'] = file['dynamic-steps'].toReversed())).edits).toEqual([
      { kind: 'steps-ordered', ids: ['step-2', 'step-1', 'step-0'] },
    ])
  })

  it.each([
    ['in-progress', []],
    ['blocked', []],
    ['failed', []],
    ['skipped', [{ kind: 'step-completed', id: 'step-1' }]],
    ['completed', [{ kind: 'step-completed', id: 'step-1' }]],
  ])('understands the status %s of phases (row 231)', (status, edits) => {
    expect(found(running(), (file) => (findStep(file, 1)['status'] = status))).toEqual({ edits, refused: [] })
  })

  it('can pause the sprint, or ask for a human', () => {
    expect(found(running(), (file) => (file.status = 'paused'))).toEqual({ edits: [{ kind: 'pause' }], refused: [] })
    const needed = { reason: 'no key', details: 'see .env' }
    const asks = (file: File) => Object.assign(file, { status: 'needs-human', 'human-needed': needed })
    expect(found(running(), asks)).toEqual({ edits: [{ kind: 'needs-human', ...needed }], refused: [] })
  })

  it('is refused with a reason if it is not allowed', () => {
    const done = buildStep({ id: 'step-0', status: 'completed' })
    const base = running({ dynamicSteps: [done, ...buildSteps('x', 'two').slice(1)] })

    expect(found(base, (file) => (findStep(file, 0)['status'] = 'pending'))).toEqual({
      edits: [],
      refused: ['step-0 is completed and cannot be made pending again; add a new step'],
    })
    expect(found(base, (file) => file['dynamic-steps'].pop())).toEqual({
      edits: [],
      refused: ['step-1 was removed; mark it completed instead'],
    })
    expect(found(base, (file) => (file.status = 'completed'))).toEqual({
      edits: [],
      refused: ['status: completed cannot be set in the file; paused and needs-human can'],
    })
    expect(found(base, (file) => Object.assign(file, { goal: 'another', mood: 'good' })).refused).toEqual([
      'goal cannot be changed in PROGRESS.yaml while the sprint runs',
      'mood cannot be changed in PROGRESS.yaml while the sprint runs',
    ])
  })

  it('contains only what its author changed, although the sprint has continued since', () => {
    const read = running({ rev: 3, dynamicSteps: buildSteps('one') })
    const text = formatProgress(read).replace('status: pending', 'status: completed')
    const edit = readExternalEdit(text, (rev) => (rev === 3 ? read : running()))

    expect(edit).toMatchObject({ rev: 3, edits: [{ kind: 'step-completed', id: 'step-0' }], refused: [] })
  })

  it('is not applied twice when its author edits again without reading the new version', () => {
    const base = running({ dynamicSteps: buildSteps('one') })
    const file: File = parse(formatProgress(base))
    file['dynamic-steps'].push({ id: 'mine', prompt: 'two', status: 'pending' })
    const first = readExternalEdit(stringify(file), () => base)
    if (first.kind !== 'edited') throw new Error(first.reason)
    file['dynamic-steps'].push({ id: 'mine-too', prompt: 'three', status: 'pending' })

    expect(readExternalEdit(stringify(file), () => first.seen)).toMatchObject({
      edits: [{ kind: 'step-added', prompt: 'three' }],
      refused: [],
    })
  })

  it('is refused if its base is no longer known', () => {
    expect(readExternalEdit(formatProgress(running()), () => undefined)).toEqual({
      kind: 'baseless',
      rev: 7,
      reason: 'it is based on rev 7, which is no longer known',
    })
  })

  it.each([
    ['nothing', ''],
    ['no YAML', 'a: [1\nb: "'],
    ['a list', '- 1\n'],
    ['half of it', formatProgress(running()).slice(0, 150)],
    ['an alias', `${formatProgress(running())}more: &a [1]\nand: *a\n`],
    ['a step without a text', formatProgress(running()).replace('prompt: two', 'prompt: ""')],
  ])('that leaves %s is unreadable, never an empty state', (_, text) => {
    expect(readExternalEdit(text, () => running()).kind).toBe('unreadable')
  })

  it('that has 50,000 fields of an agent takes no time that grows with their square', () => {
    const fields = Array.from({ length: 50_000 }, (_, number) => `k${number}: 1\n`).join('')
    expect(readExternalEdit(formatProgress(running()) + fields, () => running()).kind).not.toBe('baseless')
  })

  it('does not count as complete when the file is cut off anywhere', () => {
    const base = running()
    const text = stringify(parse(formatProgress(base))).trimEnd()
    const kinds = Array.from({ length: text.length / 3 }, (_, n) => {
      const edit = readExternalEdit(text.slice(0, n * 3), () => base)
      // The last number may lack digits; all editable fields come before it.
      return edit.kind === 'edited' ? `edits: ${edit.edits.length}, refused: ${edit.refused.join()}` : edit.kind
    })
    expect(new Set(kinds)).toEqual(new Set(['unreadable']))
  })

  it('adds nothing when its author restores what they had removed', () => {
    const base = running()
    const file: File = parse(formatProgress(base))
    const [, ...rest] = file['dynamic-steps']
    const first = readExternalEdit(stringify({ ...file, 'dynamic-steps': rest }), () => base)
    if (first.kind !== 'edited') throw new Error(first.reason)

    expect(first.refused).toEqual(['step-0 was removed; mark it completed instead'])
    expect(readExternalEdit(stringify(file), () => first.seen)).toMatchObject({
      edits: [{ kind: 'steps-ordered', ids: ['step-0', 'step-1', 'step-2'] }],
      refused: [],
    })
  })
})
