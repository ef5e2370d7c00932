// Known vulnerabilities in the installed packages, as reported by `npm audit`: a high or critical one fails. Not every registry
// answers; then the script says so and does not fail.
// Usage: npm run check:audit
import { spawnSync } from 'node:child_process'

const { stdout, stderr, error } = spawnSync('npm', ['audit', '--json', '--fetch-retries=0', '--fetch-timeout=60000'], {
  encoding: 'utf8',
  timeout: 120_000,
  maxBuffer: 2 ** 28,
})
const answer = parsed(stdout)
/** Advisories appear every day: an answer is one of its day. */
const today = new Date().toISOString().slice(0, 10)

if (answer?.metadata?.vulnerabilities === undefined) {
  console.log(`npm audit, ${today}: NOT CHECKED, the registry gave no answer (${reason()})`)
} else {
  const { vulnerabilities } = answer.metadata
  const found = Object.values(answer.vulnerabilities ?? {})
  for (const { name, severity, range } of found) console.log(`npm audit: ${severity}: ${name} ${range}`)
  const grave = (vulnerabilities.high ?? 0) + (vulnerabilities.critical ?? 0)
  console.log(`npm audit, ${today}: ${found.length} known, ${grave} of them high or critical`)
  process.exitCode = grave > 0 ? 1 : 0
}

function reason() {
  const message = answer?.message ?? answer?.error?.summary ?? error?.message ?? stderr
  return String(message).trim().split('\n').at(-1)?.slice(0, 200)
}

function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
