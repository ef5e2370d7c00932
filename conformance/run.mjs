// Points a loop at an agent that misbehaves, and reports what the loop did and what a first-class loop does.
//
//   npm run conformance -- [--loop 'COMMAND'] [--only lie,limit] [--window SECONDS] [--at-once N] [--json]
//
//   npm run conformance -- cheats …   agents that cheat, and honest ones: see cheats.mjs
//
// The command runs with sh in a new project (a git repository) with our `claude` first on PATH. It finds PROMPT.md and check.sh
// there, and GOAL, CHECK, PROMPT_FILE and LOOPS (the folder of the examples) in its environment. Without --loop: Ralph Mode.
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { catalogue } from './faults.mjs'
import { judge } from './judge.mjs'

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  if (process.argv[2] === 'cheats') await import('./cheats.mjs').then(({ main }) => main(process.argv.slice(3)))
  else await runFaults()
}

async function runFaults() {
  const { values } = parseArgs({
    options: {
      loop: { type: 'string', default: 'exec sh "$LOOPS/ralph.sh"' },
      only: { type: 'string', default: catalogue.map(({ fault }) => fault).join() },
      window: { type: 'string', default: '90' },
      'at-once': { type: 'string', default: '4' },
      json: { type: 'boolean', default: false },
    },
  })
  const verdicts = await conformance({
    loop: values.loop,
    only: values.only.split(','),
    windowMs: Number(values.window) * 1000,
    atOnce: Number(values['at-once']),
  })
  console.log(values.json ? JSON.stringify(verdicts, undefined, 2) : table(verdicts))
  process.exitCode = verdicts.every(({ passed }) => passed) ? 0 : 1
}

/** One verdict per fault, in the order of the catalogue. */
export async function conformance({ loop, only, windowMs, atOnce }) {
  const unknown = only.filter((name) => !catalogue.some(({ fault }) => fault === name))
  if (unknown.length > 0) throw new Error(`no such fault: ${unknown.join(', ')}`)
  const chosen = catalogue.filter(({ fault }) => only.includes(fault))
  const verdicts = new Map()
  const waiting = [...chosen]
  await Promise.all(
    Array.from({ length: atOnce }, async () => {
      for (let row = waiting.shift(); row; row = waiting.shift())
        verdicts.set(row.fault, await judge(row, { loop, windowMs }))
    }),
  )
  return chosen.map(({ fault }) => verdicts.get(fault))
}

export function table(verdicts) {
  const rows = verdicts.map(({ agent, starts, end, left, seconds, passed, missed }) => [
    agent,
    starts,
    end,
    left,
    `${seconds} s`,
    passed ? '✓' : `✗ not: ${missed.join('; ')}`,
  ])
  const heads = ['the agent …', 'starts', 'the loop ended with', 'left behind', 'took', '']
  const kept = verdicts.filter(({ passed }) => passed).length
  const lines = [heads, heads.map(() => '---'), ...rows].map((row) => `| ${row.join(' | ')} |`)
  return `${lines.join('\n')}\n\n${kept} of ${verdicts.length} as a first-class loop does`
}
