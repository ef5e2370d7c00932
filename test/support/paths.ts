import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')
export const ralphProgram = join(root, 'bin/cli/main.cjs')
export const fakeClaude = join(root, 'test/fixtures/agents/claude.mjs')
