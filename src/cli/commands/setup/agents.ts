import { join } from 'node:path'
import type { Driver } from '../../../agents/drivers/driver.ts'
import { inspectAgent, type Inspection } from '../../../agents/supervise/inspect.ts'
import { RalphError } from '../../../contract/errors.ts'
import { requireInstalledDriver, realDrivers } from '../../agents/choose-agent.ts'
import { defineCommand } from '../../io/command.ts'
import { createInspector } from '../../agents/inspector.ts'
import type { Io } from '../../io/io.ts'
import { encodeOutcome } from '../../io/outcome-json.ts'
import { clipLine, toOneLine } from '../../../words/text.ts'
import { formatHumanDuration } from '../../../words/durations.ts'
import { formatExactUsd } from '../../../words/money.ts'
import { createPaint } from '../../io/paint.ts'
import { capabilityText } from '../../../agents/cells/protection.ts'
import { detectSandbox } from '../../agents/protection.ts'
import { tryAgent, type AgentTrial } from '../../agents/try-agent.ts'

export const agents = defineCommand({
  name: 'agents',
  summary: 'List installed agents and try one',
  arguments: ['[try]', '[name]'],
  options: {
    model: {
      type: 'string',
      short: 'm',
      value: 'NAME',
      description: "with try: the model; default: the agent's own default",
    },
    json: { type: 'boolean', description: 'print the result as JSON' },
  },
  details: `"ralph agents" asks each program for its version and checks for a login; this is free.
"ralph agents try <name>" starts the agent in an empty folder, as a sprint would, and asks for a one-word answer. Exit code 0 if the agent answers.`,
  examples: ['ralph agents', 'ralph agents try claude', 'ralph agents try "acp:my-agent --flag"'],
  async run({ values, positionals: [verb, name] }, io) {
    const json = values.json === true
    if (verb === undefined) return printAgents(json, io)
    if (verb !== 'try' || name === undefined) {
      const hint = `did you mean "ralph agents try ${verb === 'try' ? '<name>' : verb}"?`
      throw new RalphError(
        'USAGE',
        verb === 'try' ? 'agents: missing name of the agent to try' : `agents: unknown argument "${verb}"`,
        {
          hint,
        },
      )
    }
    const trial = await tryAgent(requireInstalledDriver(name, io), values.model, io)
    if (json) io.print(JSON.stringify(trialJson(name, trial)))
    else for (const line of trialLines(name, trial, io)) io.print(line)
    return trial.stopped ? 130 : trial.answered ? 0 : 1
  },
})

async function printAgents(json: boolean, io: Io): Promise<number> {
  const found = await Promise.all(
    realDrivers().map(async (driver) => ({
      driver,
      inspection: await inspectAgent(driver, createInspector(driver, io)),
    })),
  )
  if (json) io.print(JSON.stringify(found.map(inspectionJson)))
  else
    for (const line of [...agentTableLines(found, io), `sandbox: ${capabilityText(await detectSandbox(io))}`])
      io.print(line)
  return 0
}

type InspectedDriver = { readonly driver: Driver; readonly inspection: Inspection }

const inspectionJson = ({ driver, inspection }: InspectedDriver) => ({
  name: inspection.name,
  program: inspection.program,
  way: inspection.way,
  installed: inspection.path !== undefined,
  path: inspection.path ?? null,
  version: inspection.version ?? null,
  tested: inspection.tested ?? null,
  testedVersions: driver.about ? { from: driver.about.tested[0], below: driver.about.tested[1] } : null,
  login: inspection.login,
})

const heads = ['agent', 'way', 'version', 'tested', 'logged in', 'program']

function agentTableLines(found: readonly InspectedDriver[], io: Io): string[] {
  const { bold, dim } = createPaint(io.useColor)
  const rows = found.map(agentCells)
  const widths = heads.map((head, column) => Math.max(head.length, ...rows.map((row) => row[column]?.length ?? 0)))
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd()
  const [first] = found.filter(({ inspection }) => inspection.path !== undefined)
  return [
    bold(line(heads)),
    ...rows.map((row, index) => (found[index]?.inspection.path === undefined ? dim(line(row)) : line(row))),
    '',
    first
      ? `try one: ralph agents try ${first.driver.name}`
      : 'no agent is installed; "ralph demo" runs a sprint without one',
  ]
}

function agentCells({ driver, inspection }: InspectedDriver): string[] {
  const { name, way, path, program, version = 'unknown', tested, login } = inspection
  if (path === undefined) return [name, way, '-', '-', '-', `${program} is not on PATH`]
  return [name, way, version, testedCell(tested, driver), login, path]
}

function testedCell(tested: boolean | undefined, { about }: Driver): string {
  if (tested === undefined) return 'unknown'
  return tested || !about ? 'yes' : `no: tested with ${about.tested[0]} to ${about.tested[1]}`
}

const trialJson = (agent: string, { outcome, answered, durationMs }: AgentTrial) => ({
  agent,
  answered,
  ...encodeOutcome(outcome),
  reason: outcome.reason ?? null,
  durationMs: Math.round(durationMs),
})

function trialLines(name: string, { outcome, answered, durationMs, folder }: AgentTrial, io: Io): string[] {
  const { green, red, dim } = createPaint(io.useColor)
  const { usage, costUsd, reason = 'no answer', class: failure } = outcome
  const cost = formatExactUsd(costUsd)
  const spent = `${formatHumanDuration(durationMs)}, ${usage.inputTokens} tokens in, ${usage.outputTokens} out, ${cost}`
  if (answered) return [`${green('✓')} ${name} answers: ${clipLine(toOneLine(outcome.text), 200)}`, dim(`  ${spent}`)]
  const what = [outcome.status, ...(failure ? [failure] : [])].join(', ')
  return [
    `${red('✗')} ${name} did not answer: ${what}: ${toOneLine(reason)}`,
    dim(`  ${spent}`),
    dim(`  full output: ${join(folder, 'transcripts', 'try.jsonl')}`),
  ]
}
