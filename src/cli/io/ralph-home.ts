import { join } from 'node:path'
import type { Io } from './io.ts'

/** Where Ralph keeps what belongs to the user and not to a project. An empty variable is none. */
export const ralphHome = ({ env }: Pick<Io, 'env'>): string => env['RALPH_HOME'] || join(env['HOME'] || '/', '.ralph')
