import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ScenarioAction, Turn } from './scenario.ts'
import { initLine, limitLine, limitResultLine, resultLine, textLine, toolResultLine, toolUseLine } from './stream.ts'
import type { StreamLine } from './stream.ts'
import { toolFor, type ToolAction } from './tools.ts'

export type PlayOptions = {
  readonly turn: Turn
  /** The message that carries the report; without it, the turn ends with the last text. */
  readonly final: string | undefined
  readonly pace: number
  readonly cwd: string
  readonly write: (line: string) => Promise<void>
}

/** Plays one turn. Resolves with the exit code. */
export async function play({ turn, final, pace, cwd, write }: PlayOptions): Promise<number> {
  const stage = createStage(pace, write)
  await stage.show(initLine(cwd))
  if (turn.say !== undefined) await stage.say(turn.say)
  for (const action of turn.do) {
    if (action.type === 'exit') return action.code
    if (action.type === 'limit') return hitLimit(action.resetsInSeconds, stage)
    await performAction(action, stage, cwd)
  }
  if (final !== undefined) await stage.say(final)
  await stage.show(resultLine(stage.totals()))
  return 0
}

type Stage = ReturnType<typeof createStage>

/** Prints events at a readable pace, and keeps the totals for the result line. */
function createStage(pace: number, write: (line: string) => Promise<void>) {
  const session = randomUUID()
  const started = performance.now()
  let shown = 0
  let toolsUsed = 0
  let lastText = ''

  const show = async (line: StreamLine) => {
    if (shown++ > 0) await sleep(pace)
    const stamped = { ...line, session_id: session, uuid: randomUUID(), timestamp: new Date().toISOString() }
    await write(JSON.stringify(stamped))
  }
  return {
    show,
    print: write,
    async say(text: string) {
      lastText = text
      await show(textLine(`msg_${shown}`, text))
    },
    async use(action: ToolAction, cwd: string) {
      const { name, input, use } = toolFor(action, cwd)
      const id = `toolu_${++toolsUsed}`
      await show(toolUseLine(`msg_${shown}`, { id, name, input }))
      await show(toolResultLine(id, await use()))
    },
    totals: () => ({ text: lastText, turns: toolsUsed + 1, durationMs: Math.round(performance.now() - started) }),
  }
}

async function performAction(
  action: Exclude<ScenarioAction, { type: 'exit' | 'limit' }>,
  stage: Stage,
  cwd: string,
): Promise<void> {
  switch (action.type) {
    case 'say':
      return stage.say(action.text)
    case 'print':
      return stage.print(action.line)
    case 'sleep':
      return sleep(action.ms)
    case 'hang':
      return new Promise(() => setInterval(() => {}, 3_600_000))
    case 'read':
    case 'write':
    case 'edit':
    case 'delete':
    case 'run':
      return stage.use(action, cwd)
  }
}

async function hitLimit(resetsInSeconds: number, stage: Stage): Promise<number> {
  const resetsAt = Math.ceil(Date.now() / 1000 + resetsInSeconds)
  const time = new Date(resetsAt * 1000).toISOString().slice(11, 16)
  await stage.show(limitLine(resetsAt))
  await stage.say(`You've hit your 5-hour limit · resets ${time} (UTC)`)
  await stage.show(limitResultLine(stage.totals()))
  return 1
}
