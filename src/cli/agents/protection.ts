import {
  protectionFor as protectionOn,
  sandboxCapability as capabilityOn,
  type Protection,
} from '../../agents/cells/protection.ts'
import type { Capability } from '../../agents/cells/protection.ts'
import type { Progress } from '../../contract/progress.ts'
import type { Io } from '../io/io.ts'
import { ralphHome } from '../io/ralph-home.ts'

export const sandboxCapability = ({ env, cwd }: Io): Promise<Capability> => capabilityOn({ env, cwd })

/** Throws SANDBOX_UNAVAILABLE if there must be a sandbox and cannot be one. */
export const protectionFor = (wanted: Progress['sandbox'], io: Io): Promise<Protection> =>
  protectionOn({ wanted, env: io.env, cwd: io.cwd, ralphHomes: [ralphHome(io)] })
