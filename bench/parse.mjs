// How fast Ralph reads a transcript of Claude Code, compared with a loop that only splits and parses, in the same run.
// Usage: npm run bench -- parse [-- --megabytes 256]
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { claude } from '../dist/agents/drivers/claude.js'
import { createRedactor } from '../dist/contract/secrets/redact.js'
import { createLineSplitter } from '../dist/platform/files/line-splitter.js'
import { createEventRedactor } from '../dist/runtime/redact-ports.js'
import { option, printIfMain, row } from './measure.mjs'

const chunk = Buffer.alloc(1024 * 1024)

export async function measure({ megabytes = option('megabytes', 256) } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'ralph-bench-'))
  try {
    const session = speeds(fill(folder, sessionLines(), megabytes), megabytes)
    // Hardly any tool output: small lines.
    const recorded = speeds(fill(folder, fixtureLines(), megabytes), megabytes)
    return [
      row('parse, a session that reads, edits and tests', session.ours, 'MB/s', { atLeast: 300 }),
      row('parse, the same without secrets', session.shown, 'MB/s'),
      row('parse, against only split and JSON.parse', session.bare / session.ours, '× its time', { sturdy: true }),
      row('parse, memory more after it', session.grown, 'MB', { atMost: 64 }),
      row('parse, small lines against only split and JSON.parse', recorded.bare / recorded.ours, '× its time', {
        sturdy: true,
      }),
    ]
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function speeds(file, megabytes) {
  const bare = best(megabytes, () => read(file, (line) => JSON.parse(line).type))
  const memory = process.memoryUsage().rss
  const ours = best(megabytes, () => {
    const { parse } = claude.read()
    return read(file, (line) => parse(line).length)
  })
  const shown = best(megabytes, () => {
    const { parse } = claude.read()
    const clean = createEventRedactor(createRedactor([{ name: 'A_TOKEN', value: 'a-value-that-no-line-holds' }]))
    return read(file, (line) => parse(line).map(clean).length)
  })
  const grown = Math.max(0, process.memoryUsage().rss - memory) / 2 ** 20
  return { bare, ours, shown, grown }
}

/** The best of five, in MB/s of CPU time: the machine may be busy. */
function best(megabytes, run) {
  const speeds = [1, 2, 3, 4, 5].map(() => {
    const before = process.cpuUsage()
    run()
    const { user, system } = process.cpuUsage(before)
    return megabytes / ((user + system) / 1e6)
  })
  return Math.max(...speeds)
}

function read(file, onLine) {
  const descriptor = openSync(file, 'r')
  const lines = createLineSplitter(onLine)
  for (let size = readSync(descriptor, chunk); size > 0; size = readSync(descriptor, chunk)) {
    lines.push(chunk.subarray(0, size))
  }
  lines.end()
  closeSync(descriptor)
}

function fill(folder, lines, megabytes) {
  const file = join(folder, 'transcript.jsonl')
  const block = Buffer.from(`${lines.join('\n')}\n`)
  const descriptor = openSync(file, 'w')
  for (let size = 0; size < megabytes * 1e6; size += block.length) writeSync(descriptor, block)
  closeSync(descriptor)
  return file
}

function fixtureLines() {
  const fixtures = new URL('../test/fixtures/transcripts/claude/', import.meta.url)
  return readdirSync(fixtures)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(new URL(name, fixtures), 'utf8').split('\n').filter(Boolean))
}

/** Forty turns: a thought, a file read (numbered lines, printed twice as Claude Code does), an edit, a test run. */
function sessionLines() {
  const source = fixtureLines().find((line) => line.includes('"subtype":"init"'))
  const code = readFileSync(new URL('../src/agents/drivers/claude.ts', import.meta.url), 'utf8').split('\n')
  const numbered = code.map((line, index) => `${String(index + 1).padStart(6)}→${line}`).join('\n')
  const test = Array.from({ length: 40 }, (_, n) => ` ✓ src/agents/x-${n}.test.ts (12 tests) 34ms`).join('\n')
  const turns = Array.from({ length: 40 }, (_, n) => [
    assistant(n, { type: 'text', text: 'I will look at the reader and then change how it tells the end of a turn.' }),
    ...tool(n, 'Read', { file_path: `/project/src/agents/claude-${n}.ts` }, numbered),
    ...tool(
      n,
      'Edit',
      {
        file_path: '/project/src/a.ts',
        old_string: code.slice(0, 20).join('\n'),
        new_string: code.slice(0, 25).join('\n'),
      },
      'The file has been updated.',
    ),
    ...tool(n, 'Bash', { command: 'npx vitest run', description: 'Run the tests' }, test),
  ])
  return [source, ...turns.flat()]
}

function tool(turn, name, input, output) {
  const id = `toolu_${name}${turn}`
  return [
    assistant(turn, { type: 'tool_use', id, name, input }),
    JSON.stringify({
      type: 'user',
      message: { role: 'user', content: [{ tool_use_id: id, type: 'tool_result', content: output }] },
      parent_tool_use_id: null,
      session_id: 'e00434ba-2980-41b7-9747-4bbca1a8ed42',
      uuid: '50902a5a-e85e-47ad-8b22-501917ebcf6b',
      tool_use_result: { stdout: output, stderr: '', interrupted: false },
    }),
  ]
}

function assistant(turn, block) {
  return JSON.stringify({
    type: 'assistant',
    message: {
      id: `msg_${turn}`,
      type: 'message',
      role: 'assistant',
      model: 'claude-opus-5-5',
      content: [block],
      stop_reason: null,
      usage: { input_tokens: 1200, cache_creation_input_tokens: 0, cache_read_input_tokens: 80000, output_tokens: 1 },
    },
    parent_tool_use_id: null,
    session_id: 'e00434ba-2980-41b7-9747-4bbca1a8ed42',
    uuid: 'c6f06807-cf3b-4e01-9fb0-45391ef28b23',
  })
}

await printIfMain(import.meta.url, measure)
