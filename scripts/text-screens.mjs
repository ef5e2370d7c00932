// Screens of ralph in a real terminal as text: before, during, in a question and in a diff, at three sizes.
// Needs a build, tmux and git: node scripts/text-screens.mjs <folder> [80x24 …]
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { questionScenario } from './screens/question-scenario.mjs'
import { closeTerminals, openTerminal, plainText, sprint } from './screens/terminal.mjs'

const [folder, ...names] = process.argv.slice(2)
if (folder === undefined) {
  console.error('node scripts/text-screens.mjs <folder> [80x24 …]')
  process.exit(1)
}
const sizes = ['80x24', '120x35', '200x50'].filter((name) => names.length === 0 || names.includes(name))
const name = sprint.split('_').at(-1)
const scenes = {
  before: { command: `ralph run ${name} --dry-run | head -12`, until: /first prompt[\s\S]*\$ $/ },
  during: { command: `ralph run ${name}`, until: /3[✓✗●][\s\S]*now /, pace: 900 },
  question: { command: `ralph run ${name}`, until: /your answer \(1 to 2/, scenario: questionScenario },
  diff: {
    command: `ralph run ${name}`,
    until: /3[✓✗●][\s\S]*now /,
    pace: 2500,
    keys: ['d', 'Down'],
    then: /› [\w/.]+ {2}\+/,
  },
}

mkdirSync(folder, { recursive: true })
try {
  for (const size of sizes) {
    const [columns, rows] = size.split('x').map(Number)
    for (const [scene, { until, keys = [], then = until, ...how }] of Object.entries(scenes)) {
      const screen = await openTerminal({ ...how, columns, rows }, async (read, press) => {
        await waitFor(read, until)
        for (const key of keys) {
          press(key)
          await pause(1500)
        }
        return waitFor(read, then)
      })
      const lines = plainText(screen)
        .split('\n')
        .map((line) => line.trimEnd())
      writeFileSync(join(folder, `${size}-${scene}.txt`), `${lines.join('\n').trimEnd()}\n`)
      console.log(`${size}-${scene}.txt`)
    }
  }
} finally {
  closeTerminals()
}

async function waitFor(read, until) {
  const deadline = Date.now() + 300_000
  while (Date.now() < deadline) {
    if (until.test(`${plainText(read()).trimEnd()} `)) return read()
    await pause(200)
  }
  throw new Error(`${until} was never seen:\n${plainText(read())}`)
}
