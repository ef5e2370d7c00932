import { z } from 'zod'
import type { CheckKind } from './check-kind.ts'
import { commandCheck } from './command.ts'

/** Every kind of check; adding one is a file and a row here. */
const checkKinds: readonly [CheckKind, ...CheckKind[]] = [commandCheck]

/** An entry of `done-when`. */
export const CheckEntry: CheckKind = checkKinds.length === 1 ? checkKinds[0] : z.union(checkKinds)
