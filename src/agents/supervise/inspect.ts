import type { ProgramInfo, Driver } from '../drivers/driver.ts'

/** What `inspectAgent` needs from the outside world. */
export interface InspectionPorts {
  readonly find: (program: string) => string | undefined
  /** Runs a program without input and with a time limit; never rejects. */
  readonly run: (
    file: string,
    args: readonly string[],
  ) => Promise<{ readonly code: number | null; readonly stdout: string }>
  /** Whether this file exists; the path is relative to the home folder. */
  readonly isHomeFile: (path: string) => boolean
  readonly env: Readonly<Record<string, string | undefined>>
}

export type Inspection = {
  readonly name: string
  readonly program: string
  readonly way: 'headless' | 'acp'
  /** Where PATH finds it; absent if it is not on PATH. */
  readonly path?: string
  readonly version?: string
  /** Whether we have tested the output of this version. */
  readonly tested?: boolean
  readonly login: 'yes' | 'no' | 'unknown'
}

/** Inspects an agent program without a prompt: at most two short calls. */
export async function inspectAgent(driver: Driver, inspector: InspectionPorts): Promise<Inspection> {
  const { name, program, about } = driver
  const way = name.startsWith('acp') ? 'acp' : 'headless'
  const path = inspector.find(program)
  if (path === undefined) return { name, program, way, login: 'unknown' }
  const [version, login] = await Promise.all([queryVersion(path, inspector), detectLogin(driver, path, inspector)])
  return {
    name,
    program,
    way,
    path,
    ...(version !== undefined && { version }),
    ...(version !== undefined && about && { tested: isTested(version, about) }),
    login,
  }
}

/** Reads the version of an installed copy with one short call. */
export async function readAgentVersion({ program }: Driver, inspector: InspectionPorts): Promise<string | undefined> {
  const path = inspector.find(program)
  return path === undefined ? undefined : queryVersion(path, inspector)
}

/** A one-line warning for a version that we have not tested; Ralph uses it anyway. */
export function versionWarning({ name, about }: Driver, version: string): string | undefined {
  if (!about || isTested(version, about)) return undefined
  const [from, below] = about.tested
  return `${name} ${version} was not tested (tested: ${from} and later, before ${below}); if its output is not understood, that may be why`
}

async function queryVersion(path: string, { run }: InspectionPorts): Promise<string | undefined> {
  const { code, stdout } = await run(path, ['--version'])
  return code === 0 ? /\b(\d+\.\d+\.\d+)/.exec(stdout)?.[1] : undefined
}

async function detectLogin({ about }: Driver, path: string, inspector: InspectionPorts): Promise<Inspection['login']> {
  const login = about?.login
  if (!login) return 'unknown'
  if (login.variables.some((name) => inspector.env[name])) return 'yes'
  if (login.files?.some((file) => inspector.isHomeFile(file))) return 'yes'
  if (!login.statusArgs) return 'unknown'
  const { code } = await inspector.run(path, login.statusArgs)
  return code === 0 ? 'yes' : code === 1 ? 'no' : 'unknown'
}

const isTested = (version: string, { tested: [from, below] }: ProgramInfo): boolean =>
  compareVersions(version, from) >= 0 && compareVersions(version, below) < 0

function compareVersions(a: string, b: string): number {
  const others = b.split('.').map(Number)
  const differences = a.split('.').map((part, index) => Number(part) - (others[index] ?? 0))
  return differences.find((difference) => difference !== 0) ?? 0
}
