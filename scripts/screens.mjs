// Pictures of ralph in a real terminal (tmux): screenshots and the recording of the README, as SVG in docs/images.
// Needs tmux and git; the scripted agent of the demo plays the agent. Takes about two minutes: npm run screens [-- <name> …]
// The name `page` stands for the screenshots of page-screens.mjs.
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { renderRecording, renderSvg } from './screens/ansi-svg.mjs'
import { questionScenario } from './screens/question-scenario.mjs'
import { closeTerminals, openTerminal, plainText, sprint } from './screens/terminal.mjs'

const size = { columns: 100, rows: 28 }
const command = `ralph run ${sprint.split('_').at(-1)}`

/** One turn that ends in the state to show. */
const limitScenario = `turns:\n  - say: I look at the code first.\n    do:\n      - read: src/recipe.js\n      - limit: { resets-in: 7380 }\n`
const scenes = {
  during: { until: /5●[\s\S]*I skip it/, pace: 700 },
  after: { until: /goal reached[\s\S]*\$ $/ },
  'limit-wait': { until: /parked, 2 h/, scenario: limitScenario },
  question: { until: /your answer \(1 to 2/, scenario: questionScenario },
}

const names = process.argv.slice(2)
const isWanted = (name) => names.length === 0 || names.includes(name)

try {
  for (const [name, { until, ...scene }] of Object.entries(scenes).filter(([name]) => isWanted(name))) {
    const screen = await openTerminal({ command, ...size, ...scene }, (read) => waitFor(read, until))
    save(name, renderSvg(screen, { columns: size.columns, title: `ralph run: ${name}` }))
  }
  if (isWanted('recording')) await saveRecording()
  if (isWanted('page'))
    execFileSync(process.execPath, [fileURLToPath(new URL('page-screens.mjs', import.meta.url))], { stdio: 'inherit' })
} finally {
  closeTerminals()
}

async function saveRecording() {
  const frames = await openTerminal({ command, ...size, pace: 260 }, (read) => record(read, /goal reached[\s\S]*\$ $/))
  const title = 'ralph run: a false claim and a cheat are refused, then the goal is reached'
  save('recording', renderRecording(frames, { ...size, title, seconds: 20 }))
}

function save(name, svg) {
  writeFileSync(new URL(`../docs/images/${name}.svg`, import.meta.url), svg)
  console.log(`docs/images/${name}.svg ${Math.round(svg.length / 1024)} kB`)
}

async function waitFor(read, until) {
  const deadline = Date.now() + 120_000
  while (Date.now() < deadline) {
    if (until.test(plainText(read()).trimEnd() + ' ')) {
      await pause(150)
      return read()
    }
    await pause(100)
  }
  throw new Error(`${until} was never seen:\n${plainText(read())}`)
}

/** The screens that differ from the one before, with their times in milliseconds. */
async function record(read, until) {
  const frames = []
  const start = Date.now()
  while (Date.now() - start < 180_000) {
    const screen = read()
    if (screen !== frames.at(-1)?.screen) frames.push({ screen, at: Date.now() - start })
    if (until.test(plainText(screen).trimEnd() + ' ')) return frames
    await pause(120)
  }
  throw new Error(`${until} was never seen`)
}
