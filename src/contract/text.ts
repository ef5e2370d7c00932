import { z } from 'zod'

export const nonEmptyText = z.string().refine((value) => value.trim() !== '', { error: 'must not be empty' })

/** One word of a shell command, whatever is in it. */
export const quoteShellWord = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
