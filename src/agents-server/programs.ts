import { homedir } from 'node:os'
import { join } from 'node:path'
import type { Driver } from '../agents/drivers/driver.ts'
import { buildAgentEnv } from '../agents/supervise/environment.ts'
import { inspectAgent, type InspectionPorts } from '../agents/supervise/inspect.ts'
import { getDriver, drivers } from '../agents/drivers/registry.ts'
import type { InstalledProgram } from '../contract/fleet/machine.ts'
import { isFile } from '../platform/files/files.ts'
import { findProgram } from '../platform/processes/programs.ts'
import { runWithTimeout } from '../platform/processes/timed-run.ts'
import type { HostEnvironment } from '../host/create-ports.ts'

const timeoutMs = 15_000

/** The agent programs installed here, with everything that is known without a prompt. */
export async function findPrograms(env: HostEnvironment): Promise<InstalledProgram[]> {
  const found = await Promise.all([...drivers.keys()].map((name) => inspectProgram(name, env)))
  return found.filter(({ problem }) => problem === undefined)
}

export async function inspectProgram(name: string, env: HostEnvironment): Promise<InstalledProgram> {
  const driver = getDriver(name)
  const { path, version, tested, login } = await inspectAgent(driver, createProgramInspector(driver, env))
  return {
    name,
    loggedIn: login,
    ...(version !== undefined && { version }),
    ...(tested !== undefined && { tested }),
    ...(path === undefined && { problem: `"${driver.program}" is not on PATH` }),
  }
}

function createProgramInspector(driver: Driver, env: HostEnvironment): InspectionPorts {
  const home = env['HOME'] ?? homedir()
  const { env: settings = {} } = driver.command({ cwd: home, folder: home, sprintDir: home })
  const seen = buildAgentEnv(driver, env, [], settings)
  return {
    find: (program) => findProgram(program, env['PATH'] ?? '', home),
    run: (file, args) => runWithTimeout({ file, args, cwd: home, env: seen, timeoutMs }),
    isHomeFile: (path) => isFile(join(home, path)),
    env,
  }
}
