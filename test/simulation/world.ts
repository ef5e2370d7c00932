import type { Progress } from '../../src/contract/progress.ts'
import type { Fact } from '../../src/loop/core/fact.ts'
import type { advance } from '../../src/loop/advance.ts'
import type { AttemptFolderState } from '../../src/doctor/attempt-invariants.ts'
import { isDeepEqual, type ReplayEntry } from '../../src/doctor/invariants.ts'
import { createRandom, deriveSeed, type Random } from './random.ts'
import { createTimeline, type Timeline } from './timeline.ts'

/** The rules of the loop, or a mutant of them. */
export type Rules = typeof advance

/** One run of the program, from its start to its end or its crash. */
export type Life = {
  dead: boolean
  operations: number
  readonly crashAt: number
  readonly crash: 'process' | 'machine'
}

/** The folder of an attempt and the process in it, which survives when the run is killed. */
export type Attempt = {
  readonly name: string
  readonly base: string
  state: AttemptFolderState['state']
  alive: boolean
  result: unknown
  readonly waiting: Set<() => void>
}

/** Everything that outlives a run. */
export interface World {
  readonly seed: number
  readonly random: Random
  readonly timeline: Timeline
  readonly journal: VirtualJournal
  readonly attempts: Map<string, Attempt>
  readonly limits: Map<string, number>
  /** Agents whose limit the journal knows, and until when. */
  readonly reportedLimits: Map<string, number>
  /** All transcripts that were ever started, by their folder. */
  readonly transcripts: Set<string>
  /** Attempts that ended by themselves: their result stays forever. */
  readonly finished: Set<string>
  /** Iterations whose checks have all passed, in the world and not in the state. */
  readonly green: Set<number>
  /** No more faults: everything that can succeed does. */
  calm: boolean
  fullUntil: number
  tree: number
  readonly violations: string[]
  /** A place where the run can be killed. Never resolves after a kill. */
  readonly point: (life: Life) => Promise<void>
  readonly sleep: (life: Life, ms: number) => Promise<void>
  readonly violate: (rule: string, text: string) => void
}

const noon = Date.UTC(2026, 0, 18, 12)

export function createWorld(seed: number, rules: Rules): World {
  const timeline = createTimeline(noon)
  const violations: string[] = []
  const violate = (rule: string, text: string) => void violations.push(`${rule}: ${text}`)
  const world: World = {
    seed,
    random: createRandom(deriveSeed(seed, 'world')),
    timeline,
    journal: virtualJournal(rules, violate),
    attempts: new Map(),
    limits: new Map(),
    reportedLimits: new Map(),
    transcripts: new Set(),
    finished: new Set(),
    green: new Set(),
    calm: false,
    fullUntil: 0,
    tree: 0,
    violations,
    point(life) {
      if (!life.dead && ++life.operations === life.crashAt) crash(world, life)
      return life.dead ? never() : Promise.resolve()
    },
    sleep: (life, ms) =>
      new Promise((resolve) => {
        timeline.at(timeline.now() + ms, () => {
          if (!life.dead) resolve()
        })
      }),
    violate,
  }
  return world
}

/** A dead run waits for this; a new promise each time, since a shared one would retain everything that ever waited. */
export const never = (): Promise<never> => new Promise(() => {})

function crash(world: World, life: Life): void {
  life.dead = true
  world.journal.crash(world.random)
  if (life.crash === 'process') return
  for (const attempt of world.attempts.values()) {
    if (attempt.state === 'running') attempt.state = 'lost'
    attempt.alive = false
  }
}

/** At some moment within this time. */
export function crashSoon(world: World, life: Life, withinMs: number): void {
  const { timeline, random } = world
  timeline.at(timeline.now() + random.below(withinMs), () => {
    if (!life.dead) crash(world, life)
  })
}

export type RecoveryResult = { readonly progress: Progress; readonly seq: number; readonly epoch: number }

/** A journal on a disk that forgets what was not synced. */
export interface VirtualJournal {
  readonly entries: ReplayEntry[]
  /** The last acknowledged state. */
  readonly acknowledged: () => RecoveryResult
  readonly begin: (progress: Progress) => void
  readonly recover: () => RecoveryResult
  /** A new run: its epoch is above all others. */
  readonly open: (recovered: RecoveryResult) => void
  readonly write: (fact: Fact) => void
  readonly sync: () => void
  readonly acknowledge: (progress: Progress) => void
  /** Unsynced writes may or may not survive. */
  readonly crash: (random: Random) => void
  /** PROGRESS.yaml. */
  shown: Progress | undefined
}

/** Frequent: a recovery replays what follows the last one, and at the end everything is replayed once more. */
const snapshotEvery = 8

function virtualJournal(rules: Rules, violate: World['violate']): VirtualJournal {
  const entries: ReplayEntry[] = []
  let unsynced: ReplayEntry[] = []
  let acknowledged: RecoveryResult | undefined
  let epoch = 1
  const nextSeq = () => entries.length + unsynced.length + 1
  const journal: VirtualJournal = {
    entries,
    shown: undefined,
    acknowledged() {
      if (!acknowledged) throw new Error('nothing was acknowledged yet')
      return acknowledged
    },
    begin(progress) {
      entries.push({ seq: 1, epoch, kind: 'snapshot', progress })
      acknowledged = { progress, seq: 1, epoch }
    },
    recover() {
      const recovered = replay(entries, rules)
      const before = journal.acknowledged()
      if (recovered.seq < before.seq)
        violate('I1', `record ${before.seq} was acknowledged, ${recovered.seq} is the last`)
      else if (recovered.seq === before.seq && !isDeepEqual(recovered.progress, before.progress)) {
        violate('I8', `what is recovered at record ${before.seq} is not what was acknowledged`)
      }
      return recovered
    },
    open(recovered) {
      epoch = recovered.epoch + 1
      entries.push({ seq: nextSeq(), epoch, kind: 'run' })
      acknowledged = { progress: recovered.progress, seq: entries.length, epoch }
    },
    write: (fact) => void unsynced.push({ seq: nextSeq(), epoch, kind: 'fact', fact }),
    sync() {
      entries.push(...unsynced)
      unsynced = []
    },
    acknowledge(progress) {
      acknowledged = { progress, seq: nextSeq() - 1, epoch }
      if (unsynced.length === 0 && entries.length % snapshotEvery === 0) {
        entries.push({ seq: nextSeq(), epoch, kind: 'snapshot', progress })
        acknowledged = { progress, seq: entries.length, epoch }
      }
    },
    crash(random) {
      while (unsynced.length > 0 && random.chance(0.5)) entries.push(...unsynced.splice(0, 1))
      unsynced = []
    },
  }
  return journal
}

/** What a new run makes of the records: the last snapshot, and the facts after it. */
function replay(entries: readonly ReplayEntry[], rules: Rules): RecoveryResult {
  const start = entries.findLastIndex(({ kind }) => kind === 'snapshot')
  let progress: Progress | undefined
  for (const entry of entries.slice(start)) {
    if (entry.kind === 'snapshot') progress = entry.progress
    if (entry.kind === 'fact' && progress) progress = rules(progress, entry.fact).progress
  }
  const last = entries.at(-1)
  if (!progress || !last) throw new Error('there is no snapshot')
  return { progress, seq: last.seq, epoch: last.epoch }
}
