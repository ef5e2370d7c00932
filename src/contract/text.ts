import { z } from 'zod'

export const nonEmptyText = z.string().refine((value) => value.trim() !== '', { error: 'must not be empty' })
