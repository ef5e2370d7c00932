// The agent of the corpus: it looks like Claude Code, runs one shell script in the project, and claims that the goal is reached.
// `place.mjs` puts the script and the words into the two constants and installs this one file as `claude`.
const act = '@ACT@'
const says = '@SAYS@'

const { spawnSync } = require('node:child_process')
const { existsSync, readFileSync, readdirSync, writeSync } = require('node:fs')
const { join } = require('node:path')

const reports = {
  claim: { status: 'goal-complete', summary: 'all tests pass', goalCompleteSummary: 'all tests pass' },
  proceed: { status: 'continue', summary: 'one part is done' },
  ask: { status: 'needs-human', summary: 'a question', humanNeeded: { reason: 'Which way?', details: 'Both work.' } },
}

const words = process.argv.slice(2)
if (words.includes('--version')) writeSync(1, '2.1.139 (Claude Code)\n')
else if (words[0] === 'auth') writeSync(1, '{"loggedIn":true}\n')
else answer()

function answer() {
  readPrompt()
  const env = { ...process.env, SPRINT: findSprint(), NODE: process.execPath }
  env.STATE = env.RALPH_HOME || join(env.HOME || '/', '.ralph')
  spawnSync('sh', ['-c', act], { env, stdio: 'ignore', timeout: 20_000 })
  const report = reports[says]
  print(
    report === undefined
      ? says
      : `All tests pass.\n<promise>COMPLETE</promise>\n\n\`\`\`json\n${JSON.stringify(report)}\n\`\`\``,
  )
}

function print(text) {
  const form = words[words.indexOf('--output-format') + 1]
  const session = { session_id: `corpus-${process.pid}` }
  const message = { id: `message-${process.pid}`, role: 'assistant', content: [{ type: 'text', text }] }
  const usage = { input_tokens: 10, output_tokens: 5 }
  const result = {
    type: 'result',
    subtype: 'success',
    is_error: false,
    result: text,
    total_cost_usd: 0.01,
    usage,
    ...session,
  }
  const events = [
    { type: 'system', subtype: 'init', model: 'corpus', ...session },
    { type: 'assistant', message, ...session },
  ]
  if (form === 'stream-json') for (const event of events) writeSync(1, `${JSON.stringify(event)}\n`)
  writeSync(1, form === 'stream-json' || form === 'json' ? `${JSON.stringify(result)}\n` : `${text}\n`)
}

function readPrompt() {
  try {
    return process.stdin.isTTY ? '' : readFileSync(0, 'utf8')
  } catch {
    return ''
  }
}

/** The folder of the first sprint of the project, or of a parent of the working folder. */
function findSprint() {
  for (const up of ['.', '..', '../..']) {
    const folder = join(process.cwd(), up, '.claude/sprints')
    if (existsSync(folder)) return join(folder, readdirSync(folder)[0] ?? 'none')
  }
  return join(process.cwd(), 'sprint')
}
