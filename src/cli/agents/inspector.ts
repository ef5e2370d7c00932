import { join } from 'node:path'
import type { Driver } from '../../agents/drivers/driver.ts'
import { buildAgentEnv } from '../../agents/supervise/environment.ts'
import type { InspectionPorts } from '../../agents/supervise/inspect.ts'
import { isFile } from '../../platform/files/files.ts'
import { findProgram } from '../../platform/processes/programs.ts'
import { runWithTimeout } from '../../platform/processes/timed-run.ts'
import type { Io } from '../io/io.ts'

const timeoutMs = 15_000

/** Inspects a driver's program on this machine, with the environment it would have in a sprint. */
export function createInspector(driver: Driver, { env, cwd }: Io, signal?: AbortSignal): InspectionPorts {
  const { env: settings = {} } = driver.command({ cwd, folder: cwd, sprintDir: cwd })
  const seen = buildAgentEnv(driver, env, [], settings)
  return {
    find: (program) => findProgram(program, env['PATH'] ?? '', cwd),
    run: (file, args) => runWithTimeout({ file, args, cwd, env: seen, timeoutMs, signal }),
    isHomeFile: (path) => isFile(join(env['HOME'] ?? '/', path)),
    env,
  }
}
