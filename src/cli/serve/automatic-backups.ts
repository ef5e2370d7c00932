import { join } from 'node:path'
import { listFolder, modifiedAt } from '../../platform/files/files.ts'
import { runWithTimeout } from '../../platform/processes/timed-run.ts'
import type { Io } from '../io/io.ts'

const dayMs = 86_400_000
const lookIntervalMs = 3_600_000
/** Leaves the start of the backend alone. */
const firstLookMs = 600_000
const timeoutMs = 1_800_000

export type AutomaticBackupOptions = {
  readonly dataFolder: string
  /** Number of backups to keep. */
  readonly keep: number
  readonly log: (level: 'info' | 'warn', text: string, about?: Readonly<Record<string, unknown>>) => void
  readonly firstLookMs?: number | undefined
}

/** Backs up the embedded database once a day, in a process of its own: reading every row must not delay the backend. */
export function startAutomaticBackups(options: AutomaticBackupOptions, io: Io): { readonly stop: () => void } {
  const { dataFolder, keep, log } = options
  const ending = new AbortController()
  const look = async () => {
    const folder = join(dataFolder, 'backups')
    const made = (await listFolder(folder)).filter((name) => name.endsWith('.backup'))
    const newest = Math.max(0, ...made.map((name) => modifiedAt(join(folder, name)) ?? 0))
    if (io.now() - newest < dayMs) return
    const env = Object.fromEntries(Object.entries(io.env).filter((entry): entry is [string, string] => !!entry[1]))
    const args = [process.argv[1] ?? '', 'backup', '--data', dataFolder, '--keep', `${keep}`, '--json']
    const job = { file: process.execPath, args, cwd: dataFolder, env, timeoutMs, signal: ending.signal }
    const { code, stdout } = await runWithTimeout(job)
    if (code === 0) log('info', 'backed up the database', { backup: stdout.trim() })
    else if (!ending.signal.aborted) log('warn', 'the daily backup failed; try: ralph backup', { code })
  }
  const run = () => void look().catch((error: unknown) => log('warn', `the daily backup failed: ${String(error)}`))
  const first = setTimeout(run, options.firstLookMs ?? firstLookMs).unref()
  const timer = setInterval(run, lookIntervalMs).unref()
  return {
    stop: () => {
      clearTimeout(first)
      clearInterval(timer)
      ending.abort()
    },
  }
}
