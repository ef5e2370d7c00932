import { firstErrorLine } from '../../contract/errors.ts'
import { z } from 'zod'
import type { Edit } from '../../contract/edit.ts'
import { SprintStatus, type Progress, type Step } from '../../contract/progress.ts'
import { derivedFields, encodeShownProgress } from '../state/shown-progress.ts'
import { readStepStatus, stepStatusWords } from '../seed/step-status.ts'
import { parseYaml } from '../state/parse-yaml.ts'

const EditedStepStatus = z.enum(stepStatusWords).transform(readStepStatus)

/** Only the editable fields are validated strictly; an agent's `yq` line may get a date wrong. */
const EditableProgress = z.looseObject({
  rev: z.int(),
  status: z.string(),
  'dynamic-steps': z.array(
    z.looseObject({ id: z.string(), prompt: z.string().trim().min(1), status: EditedStepStatus }),
  ),
  'human-needed': z.looseObject({ reason: z.string().optional(), details: z.string().optional() }).nullish(),
})

export type ExternalEdit =
  /** Possibly still being written. */
  | { readonly kind: 'unreadable'; readonly reason: string }
  /** The revision that its author had read is no longer known. */
  | { readonly kind: 'baseless'; readonly rev: number; readonly reason: string }
  | {
      readonly kind: 'edited'
      readonly rev: number
      readonly edits: readonly Edit[]
      readonly refused: readonly string[]
      /** The base with the author's changes: the base for their next edit if they do not read Ralph's version in between. */
      readonly seen: Progress
    }

/**
 * Extracts the changes in PROGRESS.yaml by comparing the text with the revision that its author had read; `baseOf` returns the
 * progress of a `rev`. Changes that are not allowed are reported, never silently dropped.
 */
export function readExternalEdit(text: string, findBase: (rev: number) => Progress | undefined): ExternalEdit {
  let value: unknown
  try {
    value = parseYaml(text)
  } catch (error) {
    return { kind: 'unreadable', reason: firstErrorLine(error) }
  }
  const parsed = EditableProgress.safeParse(value)
  if (!parsed.success) {
    const issue = parsed.error.issues[0]
    return { kind: 'unreadable', reason: `${issue?.path.join('.') ?? ''}: ${issue?.message ?? ''}` }
  }
  const theirs = parsed.data
  const base = findBase(theirs.rev)
  if (!base) {
    const reason = `it is based on rev ${theirs.rev}, which is no longer known`
    return { kind: 'baseless', rev: theirs.rev, reason }
  }
  const shown = encodeShownProgress(base)
  const ours = Object.fromEntries(
    Object.entries(shown).filter(([name]) => theirs[name] !== undefined || !derivedFields.has(name)),
  )
  const truncatedField = Object.keys(ours).find((name) => !editable.has(name) && isTruncated(ours[name], theirs[name]))
  if (truncatedField !== undefined) return { kind: 'unreadable', reason: `a part of "${truncatedField}" is missing` }
  const steps = stepEdits(base, theirs['dynamic-steps'])
  const status = statusEdits(base, theirs)
  return {
    kind: 'edited',
    rev: theirs.rev,
    edits: [...steps.edits, ...status.edits],
    refused: [...steps.refused, ...status.refused, ...describeForbiddenChanges(ours, theirs)],
    seen: {
      ...base,
      dynamicSteps: mergeAuthorSteps(base, theirs['dynamic-steps']),
      status: resolveStatus(theirs.status, base),
    },
  }
}

/** Most truncations of YAML are valid YAML. These fields may not be removed, so a missing one has not been written yet. */
function isTruncated(ours: unknown, theirs: unknown): boolean {
  if (Array.isArray(ours)) return !Array.isArray(theirs) || theirs.length < ours.length
  if (!isPlainObject(ours)) return ours !== undefined && theirs === undefined
  return !isPlainObject(theirs) || Object.keys(ours).some((name) => isTruncated(ours[name], theirs[name]))
}

/** The author's steps, as far as Ralph accepts them. Removed steps stay known, so that they are not added if they come back. */
function mergeAuthorSteps({ dynamicSteps, stats }: Progress, theirs: readonly TheirStep[]): Step[] {
  const known = new Map(dynamicSteps.map((step) => [step.id, step]))
  const seen = theirs.map(({ id, prompt, status }): Step => {
    const before = known.get(id) ?? { addedAt: 0, addedInIteration: stats.currentIteration, status: 'pending' }
    known.delete(id)
    return { ...before, id, prompt, status: before.status === 'completed' ? before.status : status }
  })
  return [...seen, ...known.values()]
}

const resolveStatus = (status: string, base: Progress): Progress['status'] => {
  const known = SprintStatus.safeParse(status)
  return known.success ? known.data : base.status
}

type StepChanges = { readonly edits: Edit[]; readonly refused: string[] }
type TheirStep = z.infer<typeof EditableProgress>['dynamic-steps'][number]

function stepEdits(base: Progress, theirs: readonly TheirStep[]): StepChanges {
  const edits: Edit[] = []
  const refused: string[] = []
  const known = new Map(base.dynamicSteps.map((step) => [step.id, step]))
  const seen = new Set<string>()
  for (const { id, prompt, status } of theirs) {
    const before = known.get(id)
    if (!before || seen.has(id)) {
      const own = !before && !seen.has(id) && { id }
      edits.push({ kind: 'step-added', prompt, ...own, ...(status === 'completed' && { completed: true }) })
      seen.add(id)
      continue
    }
    seen.add(id)
    if (before.status === 'completed') {
      if (status === 'pending') refused.push(`${id} is completed and cannot be made pending again; add a new step`)
      continue
    }
    if (prompt !== before.prompt.trim()) edits.push({ kind: 'step-reworded', id, prompt })
    if (status === 'completed') edits.push({ kind: 'step-completed', id })
  }
  const gone = base.dynamicSteps.filter(({ id, status }) => status === 'pending' && !seen.has(id))
  refused.push(...gone.map(({ id }) => `${id} was removed; mark it completed instead`))
  const order = (steps: readonly { id: string; status: string }[]) =>
    steps.filter(({ id, status }) => status === 'pending' && known.get(id)?.status === 'pending').map(({ id }) => id)
  const theirOrder = [...new Set(order(theirs))]
  const ours = order(base.dynamicSteps).filter((id) => theirOrder.includes(id))
  if (theirOrder.join('\n') !== ours.join('\n')) edits.push({ kind: 'steps-ordered', ids: theirOrder })
  return { edits, refused }
}

function statusEdits(base: Progress, theirs: z.infer<typeof EditableProgress>): StepChanges {
  const { status } = theirs
  if (status === base.status) return { edits: [], refused: [] }
  if (status === 'paused') return { edits: [{ kind: 'pause' }], refused: [] }
  if (status === 'needs-human') {
    const reason = theirs['human-needed']?.reason ?? 'The status was set to needs-human in PROGRESS.yaml'
    return { edits: [{ kind: 'needs-human', reason, details: theirs['human-needed']?.details ?? '' }], refused: [] }
  }
  return { edits: [], refused: [`status: ${status} cannot be set in the file; paused and needs-human can`] }
}

const editable = new Set(['rev', 'status', 'dynamic-steps', 'human-needed'])

function describeForbiddenChanges(ours: Record<string, unknown>, theirs: Record<string, unknown>): string[] {
  const names = new Set([...Object.keys(ours), ...Object.keys(theirs)])
  return [...names]
    .filter((name) => !editable.has(name) && toCanonicalJson(ours[name]) !== toCanonicalJson(theirs[name]))
    .map((name) => `${name} cannot be changed in PROGRESS.yaml while the sprint runs`)
}

const toCanonicalJson = (value: unknown): string =>
  JSON.stringify(value, (_, part: unknown) => (isPlainObject(part) ? sortKeys(part) : part)) ?? ''
const isPlainObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const sortKeys = (map: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(map).toSorted(([a], [b]) => (a < b ? -1 : 1)))
