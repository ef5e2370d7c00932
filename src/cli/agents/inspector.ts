import { dirname, join, resolve } from 'node:path'
import type { Driver } from '../../agents/drivers/driver.ts'
import { buildAgentEnv } from '../../agents/supervise/environment.ts'
import type { InspectionPorts } from '../../agents/supervise/inspect.ts'
import { isFile } from '../../platform/files/files.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { runWithTimeout } from '../../platform/processes/timed-run.ts'
import { pathOutside } from '../../platform/safe-path.ts'
import type { Io } from '../io/io.ts'

const timeoutMs = 15_000

/**
 * Inspects a driver's program on this machine, with the environment it would have in a sprint. It runs outside of any cell, so a
 * program in the project, which an agent could have left there, is found but not run.
 */
export function createInspector(driver: Driver, { env, cwd }: Io, signal?: AbortSignal): InspectionPorts {
  const { env: settings = {} } = driver.command({ cwd, folder: cwd, sprintDir: cwd })
  const path = env['PATH'] ?? ''
  const seen = { ...buildAgentEnv(driver, env, [], settings), PATH: pathOutside(path, cwd) }
  return {
    find: (program) => findProgram(program, path, cwd),
    run: async (file, args) =>
      pathOutside(dirname(resolve(cwd, file)), cwd) === ''
        ? { code: null, stdout: '' }
        : runWithTimeout({ file, args, cwd, env: seen, timeoutMs, signal }),
    isHomeFile: (name) => isFile(join(env['HOME'] ?? '/', name)),
    env,
  }
}
