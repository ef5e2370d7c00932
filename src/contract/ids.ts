import { z } from 'zod'

/** Names that become folders, in any script: at most 255 bytes, no separators, no leading dots, nothing that a shell or a path would interpret. */
export const idPattern = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,79}$|^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/u

export const SprintId = z
  .string()
  .regex(idPattern, { error: 'use letters, digits, ".", "_" and "-", starting with a letter or digit' })
  .refine((id) => !id.includes('..'), { error: 'must not contain ".."' })

/** Ids of hooks, phases and items. Any word is allowed, even `constructor`; `__proto__` is refused as a key everywhere. */
export const Id = z.string().min(1).max(200)

export const stepId = (number: number): string => `step-${number}`
