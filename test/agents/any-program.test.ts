import { expect, it } from 'vitest'
import { aSprint } from '../support/sprint.ts'

const goalComplete = JSON.stringify({ status: 'goal-complete', summary: 'done', goalCompleteSummary: 'it is there' })

it('any program that reads a prompt and prints a report can work on a sprint', async () => {
  const sprint = await aSprint({
    sprint: { agent: 'command:sh agent.sh --greeting', 'done-when': [{ run: 'grep hello greeting.txt' }] },
    files: {
      'agent.sh': `
        cat > prompt.txt
        if grep -q "Refused: grep" prompt.txt; then echo hello > greeting.txt; fi
        echo "I was started with $1."
        printf '\`\`\`json\\n%s\\n\`\`\`\\n' '${goalComplete}'
      `,
    },
  })

  const { exitCode, stdout } = await sprint.run()

  expect(exitCode).toBe(0)
  expect(stdout).toContain('I was started with --greeting.')
  expect((await sprint.iterations()).map(({ verdict, attempts }) => `${verdict} ${attempts}`)).toEqual([
    'refused 1',
    'accepted 1',
  ])
})

it('a program that takes its prompt as an argument, and speaks our own events, can work on a sprint', async () => {
  const script = `
    const [prompt] = process.argv.slice(2)
    const say = (event) => console.log(JSON.stringify(event))
    say({ kind: 'session', id: 's-1', model: 'none' })
    say({ kind: 'tool', phase: 'start', id: '1', name: 'count', argument: prompt.length + ' characters' })
    say({ kind: 'tool', phase: 'end', id: '1', ok: true })
    say({ kind: 'text', text: '\`\`\`json\\n' + ${JSON.stringify(goalComplete)} + '\\n\`\`\`' })
    say({ kind: 'usage', usage: { inputTokens: 7, outputTokens: 3, cacheReadTokens: 0, cacheWriteTokens: 0 } })
    say({ kind: 'terminal', ok: true })
  `
  const sprint = await aSprint({
    sprint: { agent: `command:${process.execPath} agent.mjs {prompt}` },
    files: { 'agent.mjs': script },
  })

  const { exitCode, stdout } = await sprint.run()

  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/→ count \d{4} characters/)
  expect((await sprint.progress()).stats.usage).toMatchObject({ 'input-tokens': 7, 'output-tokens': 3 })
})

it('a program that is not there is named before anything happens', async () => {
  const sprint = await aSprint({ sprint: { agent: 'command:./no-such-agent' } })

  expect(await sprint.run()).toMatchObject({
    exitCode: 1,
    stderr: expect.stringContaining('the program "./no-such-agent" is not on PATH'),
  })
})
