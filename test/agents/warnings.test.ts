import { chmod } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { createTestSprint, type Setup } from '../support/sprint.ts'

const goalComplete = { status: 'goal-complete', summary: 'done', goalCompleteSummary: 'it works' }

describe('as root without IS_SANDBOX and without a sandbox', () => {
  const isRoot = process.getuid?.() === 0
  const refuses = 'refuses to work unattended as root'
  const sprint = { sandbox: 'off' }

  it('one line before the first attempt says that Claude Code will refuse to start', async () => {
    const claude = await createTestSprint({ sprint, answers: { 1: goalComplete }, env: { IS_SANDBOX: '' } })
    const { stdout } = await claude.run()

    const lines = stdout.split('\n')
    const start = lines.findIndex((line) => line.startsWith('iteration 1'))
    const before = lines.flatMap((line, index) => (line.includes(refuses) ? [index < start] : []))
    expect(before).toEqual(isRoot ? [true] : [])
  })

  it('prints nothing if the user has set it, or uses another agent', async () => {
    const claude = await createTestSprint({ sprint, answers: { 1: goalComplete } })
    expect((await claude.run()).stdout).not.toContain(refuses)

    const codex = await createCodexSprint('0.166.0', { env: { IS_SANDBOX: '' } })
    expect((await codex.run()).stdout).not.toContain(refuses)
  })
})

describe('a version that was not tested', () => {
  const warning = /! \w+ 9\.9\.9 was not tested \(tested: .*\)/g

  it('causes one warning, after one short call, and is used anyway', async () => {
    const sprint = await createCodexSprint('9.9.9')
    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout.match(warning)).toEqual([expect.stringContaining('codex 9.9.9')])
    expect((await sprint.read('calls.txt')).split('\n').toSorted()).toEqual(['', '--version', 'exec', 'exec'])
  })

  it('causes a warning without a call if the agent names its version itself', async () => {
    const init = { type: 'system', subtype: 'init', session_id: 's', claude_code_version: '9.9.9' }
    const lines = [JSON.stringify(init)]
    const sprint = await createTestSprint({
      answers: { 1: { lines, report: { status: 'continue', summary: 'on' } }, 2: { lines, report: goalComplete } },
    })
    const { exitCode, stdout } = await sprint.run()

    expect(exitCode).toBe(0)
    expect(stdout.match(warning)).toEqual([expect.stringContaining('claude 9.9.9')])
    expect((await sprint.calls()).map(({ argv }) => argv.includes('--version'))).toEqual([false, false])
  })

  it('causes no warning when it was tested', async () => {
    const sprint = await createCodexSprint('0.166.7')

    expect((await sprint.run()).stdout).not.toContain('was not tested')
  })
})

/** Two iterations of a `codex` that records its calls. */
async function createCodexSprint(version: string, setup: Pick<Setup, 'env'> = {}) {
  const say = (report: unknown) => {
    const text = `\`\`\`json\n${JSON.stringify(report)}\n\`\`\``
    const item = { id: 'item_0', type: 'agent_message', text }
    return [{ type: 'item.completed', item }, { type: 'turn.completed' }]
      .map((event) => JSON.stringify(event))
      .join('\n')
  }
  const sprint = await createTestSprint({
    sprint: { agent: 'codex' },
    files: {
      '../bin/codex': `#!/bin/sh
echo "$1" >> calls.txt
if [ "$1" = --version ]; then sleep 0.2; echo "codex-cli ${version}"; exit; fi
sleep 0.5
if [ -f again ]; then cat second.jsonl; else touch again; cat first.jsonl; fi
`,
      'first.jsonl': say({ status: 'continue', summary: 'on' }),
      'second.jsonl': say(goalComplete),
    },
    ...setup,
  })
  await chmod(sprint.at('../bin/codex'), 0o755)
  return sprint
}
