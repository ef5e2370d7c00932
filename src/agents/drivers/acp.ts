import { bundledProgram } from '../../platform/package-root.ts'
import { RalphError } from '../../contract/errors.ts'
import { readAcp } from '../readers/acp-reader.ts'
import { claude, claudeSettings } from './claude.ts'
import { codex } from './codex.ts'
import type { ProgramInfo, Driver } from './driver.ts'
import { gemini, geminiSettings } from './gemini.ts'
import { opencode, opencodeSettings } from './opencode.ts'
import { resolveProgram, splitCommandLine } from './command-line.ts'

const bridge = bundledProgram('acp-bridge/main.js')

/** An agent that speaks the Agent Client Protocol, and how to start it. */
type AcpAgent = {
  readonly command: readonly string[]
  readonly env?: readonly string[]
  readonly set?: Readonly<Record<string, string>>
  readonly about?: ProgramInfo
  /** The driver whose program it is, which knows where that keeps its state. */
  readonly of?: Pick<Driver, 'state' | 'settings' | 'sessions' | 'protectedValues'>
  /** A login method that needs no user, tried only if the variable is set. */
  readonly auth?: { readonly method: string; readonly variable: string }
}

const presets: Readonly<Record<string, AcpAgent>> = {
  claude: {
    command: ['claude-agent-acp'],
    env: claude.env,
    set: claudeSettings,
    of: claude,
    about: { tested: ['0.99.0', '0.100.0'] },
  },
  codex: {
    command: ['codex-acp'],
    env: codex.env,
    of: codex,
    about: { tested: ['2.6.0', '2.7.0'] },
  },
  gemini: {
    command: ['gemini', '--acp', '--skip-trust'],
    env: gemini.env,
    set: geminiSettings,
    of: gemini,
    ...(gemini.about && { about: gemini.about }),
    auth: { method: 'gemini-api-key', variable: 'GEMINI_API_KEY' },
  },
  opencode: {
    command: ['opencode', 'acp'],
    env: opencode.env,
    set: opencodeSettings,
    of: opencode,
    ...(opencode.about && { about: opencode.about }),
  },
}

/** `acp:gemini` for a known agent, `acp:my-agent --flag` for any other. */
export function acpDriver(agent: string): Driver {
  const { command, env = [], set, auth, about, of } = findPreset(agent) ?? { command: splitCommandLine(agent) }
  const [program = ''] = command
  return {
    name: agent === '' ? 'acp' : `acp:${agent}`,
    program,
    env,
    command: ({ cwd, project = cwd, model, resume, answer }) => {
      if (program === '') throw new RalphError('USAGE', 'which agent?', { hint: 'write "acp:my-agent --flag"' })
      return {
        file: process.execPath,
        args: [
          bridge,
          '--cwd',
          cwd,
          ...(model ? ['--model', model] : []),
          ...(resume ? ['--resume', resume] : []),
          // As one argument: the answer may begin with a dash.
          ...(answer ? [`--answer=${answer}`] : []),
          ...(auth ? ['--auth', `${auth.method}=${auth.variable}`] : []),
          '--',
          resolveProgram(project, program),
          ...command.slice(1),
        ],
        ...(set && { env: set }),
      }
    },
    ...(about && { about }),
    ...(of?.state && { state: of.state }),
    ...(of?.settings && { settings: of.settings }),
    ...(of?.sessions && { sessions: of.sessions }),
    ...(of?.protectedValues && { protectedValues: of.protectedValues }),
    textInPieces: true,
    read: readAcp,
  }
}

const findPreset = (name: string): AcpAgent | undefined => (Object.hasOwn(presets, name) ? presets[name] : undefined)

export const acpPresets: readonly Driver[] = Object.keys(presets).map(acpDriver)
