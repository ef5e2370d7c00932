import { basename, dirname, join } from 'node:path'
import {
  exists,
  createFolder,
  createPrivateFolder,
  realPath,
  removeFolder,
  writeNewFile,
} from '../../platform/files/files.ts'
import { stateFolder } from '../../platform/files/state-folder.ts'
import { packageRoot } from '../../platform/package-root.ts'
import type { Driver } from '../drivers/driver.ts'
import { placesFor, sprintFoldersOf, stateOf, type SandboxRequest } from './places.ts'
import type { Capability } from './probe.ts'
import { bubblewrapArguments, sandboxVariable } from './profile.ts'

/** A program as it would be started without a sandbox. */
export type Bare = {
  readonly file: string
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

export type Confined = {
  readonly driver: Driver
  readonly folder: string
  readonly sprintDir: string
  readonly cwd: string
}

/** Keeps an agent from changing anything but its work. */
export interface Sandbox {
  /** The same program within the sandbox. */
  readonly around: (program: Bare, place: Confined) => Promise<Bare>
  /** After the attempt: what it had for itself goes. */
  readonly clear: (place: Pick<Confined, 'folder' | 'sprintDir'>) => Promise<void>
}

/** Where an attempt's agent may write besides its work: reports that it makes by a tool. */
const toldFolder = (folder: string): string => join(folder, 'told')

/**
 * Makes the agent's own folder when the attempt's is there. TERM is for the agent: bubblewrap, which would end at once and take
 * the agent with it, ignores it, and `env` gives the agent its signals back.
 */
const wrapper = 'trap "" TERM INT HUP; mkdir -p -m 700 "$1" || exit 126; shift; exec "$@"'
const wrapperWithoutWarning = 'mkdir -p -m 700 "$1" || exit 126; shift; exec "$@"'
const signalsBack = ['env', '--default-signal=TERM,INT,HUP']

type Options = Pick<SandboxRequest, 'ralphHomes' | 'alsoWritable' | 'asRoot'>

export function bubblewrapSandbox(
  { file, canWarn }: Extract<Capability, { kind: 'bubblewrap' }>,
  options: Options,
): Sandbox {
  return {
    async around(program, { driver, folder, sprintDir, cwd }) {
      const temporary = temporaryOf(sprintDir, folder)
      const told = toldFolder(folder)
      for (const path of [...sprintFoldersOf(sprintDir), ...(options.alsoWritable ?? [])]) await createFolder(path)
      await createPrivateFolder(temporary)
      for (const path of stateOf(driver, program.env)) await makeState(path)
      const env = { ...program.env, ...cachesElsewhere(program.env), TMPDIR: '/tmp', [sandboxVariable]: 'bubblewrap' }
      const programs = [...ownPrograms, ...homesOf(program.file)]
      const profile = await placesFor({ driver, cwd, sprintDir, temporary, told, env, programs, ...options })
      const inside = [...(canWarn ? signalsBack : []), program.file, ...program.args]
      const words = [file, ...bubblewrapArguments(profile), ...inside]
      return { file: '/bin/sh', args: ['-c', canWarn ? wrapper : wrapperWithoutWarning, 'ralph', told, ...words], env }
    },
    clear: ({ folder, sprintDir }) => removeFolder(temporaryOf(sprintDir, folder)),
  }
}

/** A program that was never used has to make what it keeps, and cannot do so in a home folder that is read-only. */
async function makeState(path: string): Promise<void> {
  if (exists(path)) return
  if (!path.endsWith('.json')) return createPrivateFolder(path)
  await createFolder(dirname(path))
  await writeNewFile(path, '{}\n')
}

const temporaryOf = (sprintDir: string, folder: string): string => join(stateFolder(sprintDir), 'tmp', basename(folder))

/** Ralph itself with its bridge and its MCP server, and the Node that runs them. */
const ownPrograms = [packageRoot, ...homesOf(process.execPath)]

/** The folder of a program, and the one around it that its links lead into. */
function homesOf(file: string): string[] {
  return [file, realPath(file)].flatMap((path) => {
    const folder = dirname(path)
    const around = dirname(folder)
    return basename(folder) === 'bin' && !['/', '/tmp', '/var/tmp'].includes(around) ? [folder, around] : [folder]
  })
}

/** Where there is no cache yet, none can be made in a home folder that is read-only. */
function cachesElsewhere(env: Bare['env']): Record<string, string> {
  const home = env['HOME'] ?? '/'
  return {
    ...(!exists(join(home, '.npm')) && { npm_config_cache: '/tmp/.npm' }),
    ...(!env['XDG_CACHE_HOME'] && !exists(join(home, '.cache')) && { XDG_CACHE_HOME: '/tmp/.cache' }),
  }
}
