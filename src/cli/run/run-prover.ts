import { join, relative } from 'node:path'
import { realPath } from '../../platform/files/files.ts'
import type { ProverWiring } from '../../host/create-ports.ts'
import { lazy } from '../../platform/lazy.ts'
import { confineIn } from '../../proof/room/confine.ts'
import type { ProverOptions } from '../../proof/claim-prover.ts'
import type { BaselineKeeper, ClaimProver } from '../../runtime/ports.ts'
import { assetPath } from '../io/assets.ts'
import type { Io } from '../io/io.ts'
import { ralphHome } from '../../platform/ralph-home.ts'

/** Creates the prover of `ralph run`, and of sprints that a backend starts on this machine. Its modules load with the first check: they are a third of the program. */
export function createRunProver(wiring: ProverWiring, io: Io): ClaimProver {
  const load = lazy(async () => {
    const { createClaimProver } = await import('../../proof/claim-prover.ts')
    return createClaimProver(proverOptions(wiring, io))
  })
  return {
    recordBaseline: async (request, signal) => (await load()).recordBaseline(request, signal),
    adoptBaseline: async (baseline, from) => (await load()).adoptBaseline(baseline, from),
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

function proverOptions(
  { sprintDir, state, hidden, folder, progress, sandbox, redact }: ProverWiring,
  io: Io,
): ProverOptions {
  const home = ralphHome(io)
  const { frozen = [], mayChange = [], room, seal, env } = progress
  return {
    state,
    project: folder,
    exclude: ['.claude/sprints', ...insideProject(folder, sprintDir)],
    hidden: [home, ...hidden],
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

function insideProject(folder: string, sprintDir: string): string[] {
  const path = relative(realPath(folder), realPath(sprintDir))
  return path === '' || path.startsWith('..') ? [] : [path]
}
