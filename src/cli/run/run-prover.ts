import { join, relative } from 'node:path'
import type { Progress } from '../../contract/progress.ts'
import { realPath } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import type { Sandbox } from '../../agents/cells/sandbox.ts'
import { lazy } from '../../platform/lazy.ts'
import { confineIn } from '../../proof/room/confine.ts'
import type { ProverOptions } from '../../proof/claim-prover.ts'
import type { BaselineKeeper, ClaimProver } from '../../runtime/ports.ts'
import { assetPath } from '../io/assets.ts'
import type { Io } from '../io/io.ts'
import { ralphHome } from '../../platform/ralph-home.ts'

export type ProverWiring = {
  readonly sprintDir: string
  /** Where the agent works. */
  readonly folder: string
  readonly progress: Progress
  /** What wraps agents; absent: they run as the user. */
  readonly sandbox?: Sandbox | undefined
  readonly redact: (text: string) => string
}

/** Creates the prover of `ralph run`. Its modules load with the first check: they are a third of the program. */
export function createRunProver(wiring: ProverWiring, io: Io): ClaimProver {
  const load = lazy(async () => {
    const { createClaimProver } = await import('../../proof/claim-prover.ts')
    return createClaimProver(proverOptions(wiring, io))
  })
  return {
    recordBaseline: async (request, signal) => (await load()).recordBaseline(request, signal),
    prove: async (request, signal) => (await load()).prove(request, signal),
  }
}

/** Undefined for a sprint that proves nothing. */
export function createRunKeeper(wiring: ProverWiring, io: Io): BaselineKeeper | undefined {
  if (!wiring.progress.proofBaseline) return undefined
  const load = lazy(async () => {
    const { createBaselineKeeper } = await import('../../proof/claim-prover.ts')
    return createBaselineKeeper(proverOptions(wiring, io))
  })
  return {
    rememberRest: async () => (await load()).rememberRest(),
    forgetRest: async () => (await load()).forgetRest(),
    retake: async (request, signal) => (await load()).retake(request, signal),
  }
}

function proverOptions({ sprintDir, folder, progress, sandbox, redact }: ProverWiring, io: Io): ProverOptions {
  const home = ralphHome(io)
  const { frozen = [], mayChange = [], room, seal, env } = progress
  return {
    state: proofState(sprintDir),
    project: folder,
    exclude: ['.claude/sprints', ...insideProject(folder, sprintDir)],
    hidden: [home],
    heldOut: join(home, 'checks'),
    assets: assetPath('reporters'),
    env: io.env,
    pass: env?.pass ?? [],
    frozen,
    mayChange,
    room,
    seal,
    isSealed: sandbox !== undefined,
    confine: sandbox && confineIn(sandbox, sprintDir),
    redact,
  }
}

/** What a claim is measured against, outside the project. */
const proofState = (sprintDir: string): string => join(stateFolder(sprintDir), 'proof')

function insideProject(folder: string, sprintDir: string): string[] {
  const path = relative(realPath(folder), realPath(sprintDir))
  return path === '' || path.startsWith('..') ? [] : [path]
}
