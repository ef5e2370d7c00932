import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createTestIo } from '../../../../test/support/test-io.ts'
import { createTestFolder } from '../../../../test/support/folder.ts'
import { defineCommand } from '../../io/command.ts'
import { completionFor } from './completion.ts'

const json = { type: 'boolean', description: "it's JSON: [yes]" } as const
const about = { summary: 'Run a sprint', run: async () => 0 }
const table = {
  run: {
    load: async () =>
      defineCommand({
        ...about,
        name: 'run',
        arguments: ['[sprint]'],
        options: {
          agent: { type: 'string', short: 'a', value: 'NAME', description: 'agent' },
          output: { type: 'string', value: 'FILE', description: 'where' },
          goal: { type: 'string', value: 'TEXT', description: 'goal' },
          json,
        },
      }),
  },
  restore: { load: async () => defineCommand({ ...about, name: 'restore', options: { json } }) },
  completion: { load: async () => completionFor({}) },
}

async function readCompletionScript(shell: string): Promise<string> {
  const { io, text } = createTestIo()
  await completionFor(table).run([shell], io)
  return text()
}

/** Returns what bash offers for the last word of a line. */
async function completeInBash(...words: readonly string[]): Promise<string[]> {
  const cwd = createTestFolder()
  for (const folder of ['.claude/sprints/2026-11-15_auth', '.claude/sprints/2026 with blanks', 'docs'])
    mkdirSync(join(cwd, folder), { recursive: true })
  writeFileSync(join(cwd, 'out.html'), '')
  writeFileSync(join(cwd, 'completion.bash'), await readCompletionScript('bash'))
  const line = [...words].map((word) => `'${word}'`).join(' ')
  const ask = `set -u; . ./completion.bash; COMP_WORDS=(${line}); COMP_CWORD=${words.length - 1}; _ralph; printf '%s\\n' "\${COMPREPLY[@]:-}"`
  const printed = execFileSync('bash', ['--norc', '-c', ask], { cwd, encoding: 'utf8' })
  return printed.split('\n').filter((word) => word !== '')
}

describe('the completion of bash', () => {
  it.each([
    ['commands', ['ralph', 're'], ['restore']],
    ['commands after help', ['ralph', 'help', 'r'], ['run', 'restore']],
    ['options of the command', ['ralph', 'run', '--g'], ['--goal']],
    ['no options of other commands', ['ralph', 'restore', '--g'], []],
    ['sprints by their names', ['ralph', 'run', '2026-'], ['.claude/sprints/2026-11-15_auth']],
    ['sprints by their short names', ['ralph', 'run', 'au'], ['auth']],
    ['folders, also hidden ones', ['ralph', 'run', '.cl'], ['.claude']],
    ['names with blanks as one', ['ralph', 'run', '2026 '], ['.claude/sprints/2026 with blanks']],
    ['agents', ['ralph', 'run', '--agent', 'cod'], ['codex']],
    ['agents after the short option', ['ralph', 'run', '-a', 'gem'], ['gemini']],
    ['files', ['ralph', 'run', '--output', 'out'], ['out.html']],
    ['nothing where a text is wanted', ['ralph', 'run', '--goal', ''], []],
    ['shells', ['ralph', 'completion', 'z'], ['zsh']],
    ['nothing for a command that is not there', ['ralph', 'nothing', ''], []],
  ])('offers %s', async (_, words, expected) => {
    expect(await completeInBash(...words)).toEqual(expect.arrayContaining(expected))
    expect(await completeInBash(...words)).toHaveLength(expected.length)
  })
})

describe('ralph completion', () => {
  it.each([
    ['zsh', ["'run:Run a sprint'", String.raw`'--json[it'\''s JSON\: \[yes\]]'`, "'--agent=[agent]:NAME:("]],
    ['fish', ["-a run -d 'Run a sprint'", String.raw`-l json -d 'it\'s JSON: [yes]'`, '-l agent -s a -r -a']],
  ])("writes commands and options for %s, with that shell's quoting", async (shell, parts) => {
    const script = await readCompletionScript(shell)

    expect(parts.filter((part) => !script.includes(part))).toEqual([])
  })

  it('prints the script as JSON', async () => {
    const { io, printed } = createTestIo()
    await completionFor(table).run(['bash', '--json'], io)

    expect(JSON.parse(printed[0] ?? '')).toEqual({ shell: 'bash', script: `${await readCompletionScript('bash')}\n` })
  })

  it('refuses an unknown shell', async () => {
    await expect(completionFor(table).run(['bsh'], createTestIo().io)).rejects.toMatchObject({
      code: 'USAGE',
      hint: 'did you mean bash? shells: bash, zsh, fish',
    })
  })
})
