import { automaticCapability, protectionFor, type Capability, type Protection } from '../../agents/cells/protection.ts'
import type { WallSettings } from '../../agents/cells/cell-request.ts'
import type { Io } from '../io/io.ts'
import { ralphHome } from '../../platform/ralph-home.ts'

export const detectSandbox = ({ env, cwd }: Io): Promise<Capability> => automaticCapability({ env, cwd })

/** Throws SANDBOX_UNAVAILABLE if the sandbox is required but not available. */
export const resolveProtection = (walls: WallSettings, io: Io): Promise<Protection> =>
  protectionFor({ walls, env: io.env, cwd: io.cwd, ralphHomes: [ralphHome(io)] })
