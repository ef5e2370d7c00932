import { join, relative } from 'node:path'
import type { Progress } from '../../contract/progress.ts'
import { realPath } from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import type { Sandbox } from '../../agents/cells/sandbox.ts'
import { confineIn } from '../../proof/room/confine.ts'
import { createBaselineKeeper, createClaimProver, type ProverOptions } from '../../proof/claim-prover.ts'
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

/** Creates the prover of `ralph run`. */
export const createRunProver = (wiring: ProverWiring, io: Io): ClaimProver =>
  createClaimProver(proverOptions(wiring, io))

/** Undefined for a sprint that proves nothing. */
export const createRunKeeper = (wiring: ProverWiring, io: Io): BaselineKeeper | undefined =>
  wiring.progress.proofBaseline && createBaselineKeeper(proverOptions(wiring, io))

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
