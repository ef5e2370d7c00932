import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const memory = '/dev/shm'
const roomBytes = 4 * 1024 ** 3

/**
 * Default folder of the tests unless TMPDIR is set: in memory, if there is room and programs can be started there. After tests
 * have deleted thousands of files, creating each new one costs ext4 a millisecond.
 */
export function memoryFolder(): string | undefined {
  try {
    const { bavail, bsize } = statfsSync(memory)
    return bavail * bsize >= roomBytes && canRunProgramsIn(memory) ? memory : undefined
  } catch {
    return undefined
  }
}

function canRunProgramsIn(folder: string): boolean {
  const own = mkdtempSync(join(folder, 'ralph-test-'))
  try {
    const program = join(own, 'program')
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 })
    return spawnSync(program).status === 0
  } finally {
    rmSync(own, { recursive: true })
  }
}
