import { join, resolve } from 'node:path'

export const root = resolve(import.meta.dirname, '../..')
export const ralphProgram = join(root, 'dist/cli/main.js')
export const fakeClaude = join(root, 'test/fixtures/agents/claude.mjs')
