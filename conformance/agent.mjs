// An agent that misbehaves. It looks like Claude Code in headless mode: reads the prompt from stdin or from an argument, and prints
// the answer as `--output-format` says (stream-json, json or text). One file, no dependencies: copy it, call it `claude`.
//
//   node agent.mjs --fault lie [--referee HOST:PORT] [--resets-at SECONDS] [arguments of the loop …]
//
// With a referee it says hello there and learns the number of this call, and maybe the fault; while it and its children live,
// their connections are open. That shows which processes are alive even through namespaces and containers.
import { spawn } from 'node:child_process'
import { appendFileSync, readFileSync, realpathSync, writeFileSync, writeSync } from 'node:fs'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

const claim = { status: 'goal-complete', summary: 'all tests pass', goalCompleteSummary: 'all tests pass' }
const proceed = { status: 'continue', summary: 'still at it' }

/** The faults, by name. `number` is that of this call, from 1. */
export const faults = {
  /** Claims that everything is done; nothing is. */
  lie: async ({ say }) => say(claimed(claim)),
  /** Is at its usage limit until the reset time that it reports; then it works. */
  limit: async (call) => (Date.now() < call.resetsAt * 1000 ? call.refuse(429, 'limit') : faults.work(call)),
  /** Fails, as when the servers of the vendor are down. */
  crash: async () => {
    process.stderr.write('API Error 500\n')
    return 1
  },
  /** Repeats its prompt. */
  echo: async ({ say, prompt }) => say(prompt),
  /** Answers nothing. */
  empty: async ({ say }) => say(''),
  /** Says that it continues, and changes nothing. */
  busy: async ({ say }) => say(reported(proceed)),
  /** Hangs, with a child that has left its session. */
  hang: async ({ child, begin }) => {
    begin()
    await child()
    await forever()
  },
  /** Prints its result, but does not exit. */
  'hang-after-result': async (call) => {
    await faults.work(call)
    await forever()
  },
  /** Prints endlessly. */
  flood: async ({ begin }) => {
    begin()
    const line = Buffer.from(`${JSON.stringify({ type: 'noise', text: 'y'.repeat(65_000) })}\n`)
    for (;;) {
      write(line)
      await nextTurn()
    }
  },
  /** Asks a question. */
  question: async ({ say }) =>
    say(reported({ status: 'needs-human', summary: 's', humanNeeded: { reason: 'Which database?', details: 'd' } })),
  /** Names unknown steps; the next time it works. */
  'wrong-ids': async (call) => {
    if (call.number > 1) return faults.work(call)
    const pendingSteps = [{ id: 'x', prompt: 'y' }]
    return call.say(reported({ ...proceed, completedStepIds: ['step-99', '__proto__'], pendingSteps }))
  },
  /** Is not logged in. */
  'not-logged-in': async ({ refuse }) => refuse(401, 'Please run /login'),
  /** Does the work, and leaves a child behind in a session of its own. */
  'setsid-child': async (call) => {
    await call.child()
    return faults.work(call)
  },
  /** Takes four seconds for the work: time to kill the loop. */
  slow: async (call) => {
    call.begin()
    await pause(4000)
    return faults.work(call)
  },
  /** Does the work and says so. */
  work: async ({ say }) => {
    writeFileSync('answer.txt', '42\n')
    return say(claimed(claim))
  },
  /** Does a part, adds a step if the referee sends one, and says that it continues. */
  part: async ({ say, instruction }) => {
    appendFileSync('parts.txt', `${Date.now()}\n`)
    return say(reported({ ...proceed, pendingSteps: instruction.step ? [{ id: null, prompt: instruction.step }] : [] }))
  },
}

async function main() {
  const { options, words } = readWords(process.argv.slice(2))
  if (options.child) return keepAlive(options)
  if (words.includes('--version')) return void process.stdout.write('2.1.139 (Claude Code)\n')
  if (words[0] === 'auth') return void process.stdout.write('{"loggedIn":true}\n')
  const prompt = readPrompt(words)
  const instruction = options.referee ? await greet(options.referee, { hello: 'call', prompt }) : { number: 1 }
  const fault = faults[instruction.fault ?? options.fault]
  if (fault === undefined) throw new Error(`--fault is one of ${Object.keys(faults).join(', ')}`)
  const exit = await fault(readCall({ options, words, prompt, instruction }))
  if (instruction.lingers) await forever()
  await instruction.goodbye?.()
  process.exit(exit)
}

function readCall({ options, words, prompt, instruction }) {
  const form = words.find((_, index) => words[index - 1] === '--output-format') ?? 'text'
  const schema = words.find((_, index) => words[index - 1] === '--json-schema')
  const session = { session_id: `conformance-${process.pid}` }
  const print = (event) => form === 'stream-json' && write(`${JSON.stringify({ ...event, ...session })}\n`)
  const result = (fields) => {
    const event = { type: 'result', subtype: 'success', ...fields, total_cost_usd: 0.01, ...session, usage }
    write(form === 'text' ? `${fields.result}\n` : `${JSON.stringify(event)}\n`)
  }
  const begin = () => print({ type: 'system', subtype: 'init', model: 'conformance' })
  const resetsAt = instruction.resetsAt ?? Number(options['resets-at'] ?? Date.now() / 1000 + 3600)
  return {
    number: instruction.number,
    instruction,
    prompt,
    resetsAt,
    begin,
    say(text) {
      begin()
      const message = { id: `message-${process.pid}`, role: 'assistant', content: [{ type: 'text', text }] }
      print({ type: 'assistant', message })
      result({
        is_error: false,
        result: text,
        ...(schema && text.startsWith(allPass) && { structured_output: fill(schema) }),
      })
      return 0
    },
    refuse(status, text) {
      begin()
      const info = { status: 'rejected', resetsAt, rateLimitType: 'five_hour', isUsingOverage: false }
      if (status === 429) print({ type: 'rate_limit_event', rate_limit_info: info })
      const at = new Date(resetsAt * 1000).toISOString()
      result({
        is_error: true,
        api_error_status: status,
        result: status === 429 ? `You've hit your ${text} · resets ${at}` : text,
      })
      return 1
    },
    /** Resolves when the referee knows the child. */
    async child() {
      const args = [fileURLToPath(import.meta.url), '--child', 'yes', '--referee', options.referee ?? '']
      const child = spawn(process.execPath, args, { detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
      await once(child.stdout, 'data')
      child.stdout.destroy()
      child.unref()
    },
  }
}

/** The most optimistic answer that a JSON Schema allows, for a claim in a loop that asks for one. */
function fill(schema) {
  const values = { boolean: true, string: 'all tests pass', array: [] }
  const fields = Object.entries(JSON.parse(schema).properties ?? {})
  return Object.fromEntries(fields.map(([name, { type }]) => [name, values[type]]))
}

const allPass = 'All tests pass.'
const usage = { input_tokens: 10, output_tokens: 5 }
const reported = (report) => `Done.\n\n\`\`\`json\n${JSON.stringify(report)}\n\`\`\``

/** In the format of many loops: a marker in the text, and a JSON block at the end. */
function claimed(report) {
  return `${allPass}\n<promise>COMPLETE</promise>\n\n${reported(report)}`
}

/** Our options come first; the first other word begins the arguments of the loop. */
function readWords(argv) {
  const options = {}
  let index = 0
  for (; /^--(fault|referee|resets-at|child)$/.test(argv[index] ?? ''); index += 2)
    options[argv[index].slice(2)] = argv[index + 1]
  return { options, words: argv.slice(index) }
}

/** From stdin, else the longest argument. */
function readPrompt(words) {
  let text = ''
  try {
    text = process.stdin.isTTY ? '' : readFileSync(0, 'utf8')
  } catch {
    // Closed, or a terminal that is gone.
  }
  return text.trim() === '' ? words.reduce((long, word) => (word.length > long.length ? word : long), '') : text
}

/** Returns the referee's answer, and a function to say goodbye. When the referee hangs up, the game is over. */
async function greet(address, hello) {
  const [host, port] = address.split(':')
  const socket = connect(Number(port), host)
  const gone = (error) => {
    process.stderr.write(`the referee at ${address} cannot be reached: ${error?.message ?? 'it hung up'}\n`)
    process.exit(97)
  }
  socket.setEncoding('utf8').on('error', gone).on('close', gone)
  socket.write(`${JSON.stringify({ ...hello, pid: process.pid })}\n`)
  const text = await new Promise((resolve) => {
    let read = ''
    socket.on('data', (part) => (read += part).includes('\n') && resolve(read))
  })
  const goodbye = () => {
    socket.off('close', gone)
    return new Promise((resolve) => socket.end('{"hello":"over"}\n', resolve))
  }
  return { ...JSON.parse(text), goodbye }
}

async function keepAlive({ referee }) {
  if (referee) await greet(referee, { hello: 'child' })
  process.stdout.write('here\n')
  setTimeout(() => process.exit(0), 600_000)
}

const forever = () => new Promise(() => setInterval(() => {}, 60_000))

/** Synchronous, since the process may exit right after it. */
function write(text) {
  const bytes = Buffer.from(text)
  for (let from = 0; from < bytes.length;) {
    try {
      from += writeSync(1, bytes, from)
    } catch (error) {
      if (error.code === 'EPIPE') process.exit(141)
      if (error.code !== 'EAGAIN') throw error
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5)
    }
  }
}

if (realpathSync(process.argv[1]) === fileURLToPath(import.meta.url)) await main()
