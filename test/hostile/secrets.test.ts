import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { prints, putProgram, reportBlock } from '../support/programs.ts'
import { createTestSprint, type RunResult, type TestSprint } from '../support/sprint.ts'

const random = 'aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA'

/** Secrets that must never leak, by their source. None is real; a scanner for secrets may disagree. */
const canaries = {
  ofAgent: `canary-agent-${random}`,
  ofUser: `canary-user-${random}`,
  dotenv: `canary/dotenv "${random}"`,
  dotenvAny: `canarydotenvany${random}`,
  aws: 'AKIACANARYCANARY2345',
  github: `ghp_canary${random}`,
  anthropic: `sk-ant-api03-canary-${random}`,
  openai: `sk-proj-canary${random}`,
  slack: `xoxb-1234567890-canary${random}`,
  jwt: `eyJhbGciOiJIUzI1NiJ9.eyJjYW5hcnkiOiJjYW5hcnkifQ.canary${random}`,
  privateKey: `MIIcanary${random}${random}`,
  bearer: `canary.bearer.${random}`,
  url: 'canary-url-password',
  assigned: `canary${random}canary`,
}
const pem = `-----BEGIN RSA PRIVATE KEY-----\n${canaries.privateKey}\n-----END RSA PRIVATE KEY-----`
const { privateKey: _inKey, bearer, url, assigned, ...plain } = canaries
const spoken = [
  ...Object.values(plain),
  pem,
  `Authorization: Bearer ${bearer}`,
  `postgres://app:${url}@db/app`,
  `DEPLOY_TOKEN=${assigned}`,
].join('\n')

const env = { ANTHROPIC_API_KEY: canaries.ofAgent, DEPLOY_PASSWORD: canaries.ofUser }

/** An agent and a check that print all of them in every possible way. */
async function leaking(): Promise<TestSprint> {
  const sprint = await createTestSprint({
    env,
    files: { '.env': `DB_PASSWORD='${canaries.dotenv}'\nWHATEVER=${canaries.dotenvAny}\n`, '../said.txt': spoken },
    sprint: {
      'done-when': [{ run: 'cat ../said.txt; printenv DEPLOY_PASSWORD; exit 1' }],
      notify: [{ run: 'printenv RALPH_TEXT RALPH_DETAILS >>notified.txt' }],
      limits: { 'no-progress': 1 },
      'per-iteration-hooks': [
        { id: 'shell', run: 'cat ../said.txt >&2; exit 1', 'on-fail': 'feed-back' },
        { id: 'asks', prompt: 'look' },
      ],
    },
  })
  const session = { type: 'system', subtype: 'init', session_id: 's', model: 'm' }
  const assistant = (content: unknown) => ({ type: 'assistant', message: { id: 'm', role: 'assistant', content } })
  const tool = { type: 'tool_use', id: 't', name: 'Bash', input: { command: `echo ${spoken}`, deep: [{ spoken }] } }
  const result = {
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't', content: spoken }] },
  }
  const steps = [{ id: null, prompt: `use ${spoken}` }]
  const plans = { status: 'continue', summary: `found ${spoken}`, pendingSteps: steps }
  const claims = { status: 'goal-complete', summary: spoken, goalCompleteSummary: spoken }
  const asks = { status: 'needs-human', summary: spoken, humanNeeded: { reason: spoken, details: spoken } }
  const says = (report: unknown) => [
    session,
    assistant([{ type: 'text', text: spoken }, tool]),
    result,
    { type: 'result', subtype: 'success', is_error: false, result: reportBlock(report), session_id: 's', usage: {} },
  ]
  const script = (report: unknown) => prints(...says(report))
  await putProgram(
    sprint,
    'claude',
    `n=$(cat count 2>/dev/null || echo 0); echo $((n + 1)) >count
cat ../said.txt >&2
case $n in
0) ${script(plans)} ;;
1) cat ../said.txt >s/LEARNINGS.md; ${script(claims)} ;;
2) sed -i "s/use .*/use $(head -1 ../said.txt) again/" s/PROGRESS.yaml; cat ../said.txt; exit 3 ;;
*) ${script(asks)} ;;
esac`,
  )
  return sprint
}

/** Raw output of programs, and files that the agent and the user have written themselves. */
const isRaw = (path: string): boolean =>
  /attempts\/[^/]+\/(transcript\.jsonl|stderr\.log)$|transcripts\/|\.env$|LEARNINGS\.md$/.test(path)

function findLeaks(name: string, content: string): string[] {
  return Object.entries(canaries)
    .filter(([, canary]) => [canary, JSON.stringify(canary).slice(1, -1)].some((form) => content.includes(form)))
    .map(([which]) => `${which} in ${name}`)
}

const listFilesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

const views = [
  ['status', 's'],
  ['status', 's', '--json'],
  ['logs', 's', '--iteration', '1'],
  ['logs', 's', '--iteration', '1', '--json'],
  ['transcript', 's/transcripts/iteration-1.jsonl'],
  ['report', 's', '--output', 'report.html'],
  ['report', 's', '--output', 'report.md'],
  ['doctor', 's'],
]

describe('secrets that an agent and a check print', { timeout: 120_000 }, () => {
  it('appear only in their raw output, byte for byte, which no other user can read', async () => {
    const sprint = await leaking()
    const run = await sprint.run('--json')
    const shown: [string, RunResult][] = [['run', run]]
    for (const args of views) shown.push([args.join(' '), await sprint.ralph(...args)])

    const leaks = shown.flatMap(([name, { stdout, stderr }]) => findLeaks(`what ${name} prints`, `${stdout}${stderr}`))
    const stored = listFilesBelow(sprint.at())
      .filter((path) => !isRaw(path))
      .flatMap((path) => findLeaks(path.slice(sprint.at().length), readFileSync(path, 'utf8')))

    expect([...leaks, ...stored]).toEqual([])
    expect(run.exitCode).toBe(2)
    expect((await sprint.read('notified.txt')).match(/\[redacted/g)?.length).toBeGreaterThan(10)
    expect((await sprint.read('s/PROGRESS.yaml')).match(/\[redacted/g)?.length).toBeGreaterThan(10)
    const file = sprint.state('transcripts/1-1.jsonl')
    expect(findLeaks('it', readFileSync(file, 'utf8'))).toHaveLength(Object.keys(canaries).length)
    expect([mode(file), mode(sprint.state('transcripts')), mode(sprint.state('packed'))]).toEqual(['600', '700', '700'])
  })
})

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)
