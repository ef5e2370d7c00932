import { basename, relative } from 'node:path'
import type { Io } from './io.ts'

/** Shortens a path for display. */
export function displayPath(path: string, io: Pick<Io, 'cwd'>): string {
  const short = relative(io.cwd, path)
  return short === '' ? basename(path) : short.startsWith('..') ? path : short
}
