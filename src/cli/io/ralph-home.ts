import { join } from 'node:path'
import type { Io } from './io.ts'

/** Where Ralph keeps the user's data that belongs to no project. An empty variable counts as unset. */
export const ralphHome = ({ env }: Pick<Io, 'env'>): string => env['RALPH_HOME'] || join(env['HOME'] || '/', '.ralph')
