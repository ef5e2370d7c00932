// Writes docs/reference/api.md and metrics.md from the routes and the metrics themselves. With --check: reports whether they are up to date.
import { readFileSync, writeFileSync } from 'node:fs'
import { buildOpenApi } from '../dist/backend/http/openapi.js'
import { readMetrics } from '../dist/backend/http/read-metrics.js'

const pages = { 'docs/reference/api.md': describeApi(), 'docs/reference/metrics.md': await describeMetrics() }

const stale = Object.entries(pages).filter(([file, text]) => read(file) !== text)
if (process.argv.includes('--check')) {
  for (const [file] of stale) console.error(`${file} is out of date; write it with: npm run generate`)
  process.exitCode = stale.length > 0 ? 1 : 0
} else {
  for (const [file, text] of stale) writeFileSync(file, text)
}
// The reader of metrics keeps a monitor of the event loop open.
process.exit()

function describeApi() {
  const { paths, tags } = buildOpenApi('0')
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), ...operation })),
  )
  const sections = tags.flatMap(({ name }) => [
    `## ${name}`,
    '',
    '| call | what it does | needs |',
    '| --- | --- | --- |',
    ...operations
      .filter((operation) => operation.tags.includes(name))
      .map(
        ({ method, path, summary, 'x-needs': needs }) =>
          `| \`${method} ${path}\` | ${cell(summary)} | ${needs === 'public' ? 'no sign-in' : needs} |`,
      ),
    '',
  ])
  return [
    '# HTTP API',
    '',
    '<!-- Written by scripts/fleet-docs.mjs from the routes; npm run generate -->',
    '',
    'Everything that the page does, a program can do. A running backend serves the OpenAPI document at `/api/openapi.json` and the same for people',
    "at `/api/docs`. The npm package has a typed client: `import { createClient } from 'ralph-mode/client'`.",
    '',
    '- Send `Authorization: Bearer <token>`. Create a token under Settings, or with `POST /api/tokens`.',
    '- Bodies are JSON. Errors are `application/problem+json` with a `code` of [the list](errors.md).',
    '- Lists answer with `next`; pass it as `cursor` to get more.',
    '- A `POST` with an `Idempotency-Key` runs at most once. One that died with its backend answers `CALL_INTERRUPTED`.',
    '- `GET /api/events` is a stream (SSE). Add `?sprintId=` or `?agentId=` for what happens inside; resume with `Last-Event-ID`.',
    '',
    '```sh',
    'curl -H "authorization: Bearer $RALPH_TOKEN" -H "content-type: application/json" \\',
    '  -d \'{"taskDescription": "Raise the coverage to 90 %", "doneWhen": [{"run": "npm test"}], "limits": {"usd": 10}}\' \\',
    '  https://ralph.example.com:7257/api/agents/$AGENT/ralph-mode/start',
    '```',
    '',
    ...sections,
  ].join('\n')
}

async function describeMetrics() {
  const text = await readMetrics(
    { pool: { query: () => Promise.reject(new Error('no database')), idleCount: 0, totalCount: 0, waitingCount: 0 } },
    { version: '0', viewers: 0, lines: 0, refusedFrames: 0, certificateExpiresAt: 0 },
  )
  const types = new Map([...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name, type]) => [name, type]))
  const rows = [...text.matchAll(/^# HELP (\S+) (.+)$/gm)].map(
    ([, name, help]) => `| \`${name}\` | ${types.get(name)} | ${cell(help)} |`,
  )
  return [
    '# Metrics',
    '',
    '<!-- Written by scripts/fleet-docs.mjs from the metrics; npm run generate -->',
    '',
    '`GET /metrics` of a backend, in the text format of Prometheus. It needs `RALPH_METRICS_TOKEN` or the token of an admin.',
    '[Operate a fleet](../guides/operations.md#health-metrics-and-logs) says how to use them.',
    '',
    '| metric | type | meaning |',
    '| --- | --- | --- |',
    ...rows.toSorted(),
    '',
  ].join('\n')
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')
}

function read(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}
