import { errorMessage, RalphError, type ErrorCode } from '../../contract/errors.ts'

const codes: Readonly<Record<string, ErrorCode>> = {
  EACCES: 'FILE_UNREADABLE',
  EDQUOT: 'DISK_FULL',
  EIO: 'FILE_UNREADABLE',
  EMFILE: 'FILE_UNREADABLE',
  ENFILE: 'FILE_UNREADABLE',
  ENOSPC: 'DISK_FULL',
  EPERM: 'FILE_UNREADABLE',
  EROFS: 'FILE_UNWRITABLE',
}

/** What this computer refuses is no bug of Ralph's: a missing right, a full or broken disk, too many open files. */
export function describeSystemError(error: unknown): RalphError | undefined {
  if (!(error instanceof Error && 'code' in error && 'syscall' in error)) return undefined
  const code = codes[String(error.code)]
  return code === undefined ? undefined : new RalphError(code, errorMessage(error), { cause: error })
}
