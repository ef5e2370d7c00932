import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import type { Protection } from '../agents/cells/protection.ts'
import { CellKind } from '../contract/cell.ts'
import { listInstalls } from '../contract/check.ts'
import { RalphError, errorMessage } from '../contract/errors.ts'
import { findPlanWidening, isCallersCommand, type WidenedPlan } from '../contract/fleet/machine-grant.ts'
import type { Progress } from '../contract/progress.ts'
import { readTextIfExists } from '../platform/files/files.ts'
import type { ShellRunner } from '../runtime/ports.ts'

/** What the owner of a machine lets a backend do, in `~/.ralph/machine.yaml`. */
const PolicyFile = z.strictObject({
  /** Agent programs by name, `command:…` in full; default: every program that has a driver. */
  programs: z.array(z.string()).optional(),
  /** Commands of checks, gates and hooks, word for word; `*`: any. Default: none. */
  commands: z.array(z.string()).default([]),
  /** Cells in which an agent may run. Default: any. */
  cells: z.array(CellKind).optional(),
  network: z.array(z.enum(['open', 'closed', 'allow-list'])).optional(),
  /** Whether a sprint may show its cell or its checks more of this machine: `read`, `write`, `private` hosts, `env: pass` … */
  widen: z.boolean().default(false),
  /** Folders that workspaces must be in, besides those named by `join`. */
  roots: z.array(z.string().startsWith('/')).optional(),
  /** Whether the backend may ask for updates; the command is the one of `join --update`. */
  updates: z.boolean().default(false),
})

type CheckSettings = Pick<Progress, 'room' | 'doneWhen'>

/** Every assertion throws MACHINE_REFUSED with the reason, which the machine reports to the backend. */
export interface MachinePolicy {
  readonly assertProgram: (program: string) => void
  /** Before any of it is tried. */
  readonly assertWalls: (plan: WidenedPlan & Partial<Pick<Progress, 'perIterationHooks'>>) => void
  /** Whether all commands that a proof runs are allowed; otherwise checks run one by one, and a refused one says why. */
  readonly allowsProof: (checks: CheckSettings) => boolean
  readonly assertProtection: (protection: Pick<Protection, 'kind' | 'network'>) => void
  readonly assertUpdate: () => void
  /** A refused command is not started; its result says why. */
  readonly guardShell: (shell: ShellRunner) => ShellRunner
  readonly roots: readonly string[] | undefined
  /** The whole of it, for people; absent without a file. */
  readonly lines?: readonly string[] | undefined
}

const policyName = 'machine.yaml'

/** Without the file the machine does what its backend asks for, as far as `join` allowed it. */
const openPolicy: MachinePolicy = {
  assertProgram: () => {},
  assertWalls: () => {},
  allowsProof: () => true,
  assertProtection: () => {},
  assertUpdate: () => {},
  guardShell: (shell) => shell,
  roots: undefined,
}

/** Reads the policy. Throws FILE_UNREADABLE rather than run with fewer limits than its author wanted. */
export async function readPolicy(folder: string): Promise<MachinePolicy> {
  const file = join(folder, policyName)
  const text = await readTextIfExists(file)
  if (text === undefined) return openPolicy
  const parsed = PolicyFile.safeParse(parseYaml(text, file))
  if (!parsed.success) throw unreadable(file, describeIssue(parsed.error))
  return { ...createPolicy(parsed.data), lines: formatPolicy(parsed.data) }
}

const formatPolicy = (file: z.output<typeof PolicyFile>): string[] =>
  Object.entries(file).map(([name, value]) => `${name}: ${Array.isArray(value) ? value.join(', ') || 'none' : value}`)

function createPolicy({
  programs,
  commands,
  cells,
  network,
  widen,
  roots,
  updates,
}: z.output<typeof PolicyFile>): MachinePolicy {
  const allowsCommand = (command: string) => commands.includes('*') || commands.includes(command.trim())
  return {
    roots,
    assertProgram: (program) => {
      if (programs ? !programs.includes(program) : isCallersCommand(program)) throw refused(`the program "${program}"`)
    },
    assertWalls: (plan) => {
      const widening = findPlanWidening(plan)
      if (widening !== undefined && !widen) throw refused(`"${widening}"`)
      const bare = plan.perIterationHooks?.find(({ cell }) => cell === 'none')
      if (bare && cells && !cells.includes('none')) throw refused(`"cell: none" of the hook ${bare.id}`)
    },
    allowsProof: (checks) =>
      [...(checks.doneWhen ?? []).map(({ run }) => run), ...listInstalls(checks)].every(allowsCommand),
    assertProtection: ({ kind, network: reach }) => {
      if (cells && !cells.includes(kind)) throw refused(`an agent in the cell "${kind}"`)
      if (network && !network.includes(reach)) throw refused(`an agent whose network is "${reach}"`)
    },
    assertUpdate: () => {
      if (!updates) throw refused('updates')
    },
    guardShell: (shell) => ({
      run: async (request, signal) => {
        if (allowsCommand(request.command)) return shell.run(request, signal)
        const { message: error } = refused(`the command "${request.command.slice(0, 200)}"`)
        return { exitCode: null, output: '', error, durationMs: 0 }
      },
    }),
  }
}

const refused = (what: string): RalphError =>
  new RalphError('MACHINE_REFUSED', `the policy of this machine (${policyName}) does not allow ${what}`)

function parseYaml(text: string, file: string): unknown {
  try {
    return parse(text) ?? {}
  } catch (error) {
    throw unreadable(file, errorMessage(error))
  }
}

const describeIssue = ({ issues: [first] }: z.ZodError): string =>
  first ? `${first.path.join('.') || 'the file'}: ${first.message}` : 'it is invalid'

const unreadable = (file: string, why: string): RalphError =>
  new RalphError('FILE_UNREADABLE', `the policy of this machine cannot be read: ${why}`, { place: { file } })
