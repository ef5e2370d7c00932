import { z } from 'zod'

/** Names that become folders: no separators, no dots in front, nothing a shell or a path could read differently. */
export const idPattern = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

export const SprintId = z
  .string()
  .regex(idPattern, { error: 'use letters, digits, ".", "_" and "-", starting with a letter or digit' })
  .refine((id) => !id.includes('..'), { error: 'must not contain ".."' })

/** Ids of hooks, phases and items. Any word will do, `constructor` too; `__proto__` is refused as a key everywhere. */
export const Id = z.string().min(1).max(200)

export const stepId = (number: number): string => `step-${number}`
