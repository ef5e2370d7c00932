import { join } from 'node:path'

type Environment = { readonly env: Readonly<Record<string, string | undefined>> }

/** Where Ralph keeps the user's data that belongs to no project. An empty variable counts as unset. */
export const ralphHome = ({ env }: Environment): string => env['RALPH_HOME'] || join(env['HOME'] || '/', '.ralph')
