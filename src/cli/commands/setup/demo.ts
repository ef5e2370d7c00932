import { join, resolve } from 'node:path'
import { RalphError } from '../../../contract/errors.ts'
import { exists, createTemporaryFolder } from '../../../platform/files/files.ts'
import { installedAgents } from '../../agents/choose-agent.ts'
import { defineCommand } from '../../io/command.ts'
import type { Io } from '../../io/io.ts'
import { createDemoProject } from '../../sprint/demo-project.ts'
import { runInTerminal } from '../../run/run-in-terminal.ts'
import { displayPath } from '../../io/display-path.ts'

export const demo = defineCommand({
  name: 'demo',
  summary: 'Watch a sprint on a sample project: offline, no agent, no API key',
  arguments: ['[folder]'],
  options: {
    fast: { type: 'boolean', description: 'skip the pauses that make it readable' },
    json: { type: 'boolean', description: 'print one JSON event per line' },
  },
  details: `Copies a small project with failing tests into a new folder (temporary by default) and runs a sprint on it.
A scripted program plays the agent: it speaks Claude Code's protocol and really edits the files, following a scenario file.`,
  examples: ['ralph demo', 'ralph demo ./pancakes --fast'],
  async run({ values, positionals: [folder] }, io) {
    const project =
      folder === undefined ? join(await createTemporaryFolder('ralph-demo'), 'pancakes') : resolve(io.cwd, folder)
    if (exists(project)) {
      throw new RalphError('SPRINT_EXISTS', 'the folder already exists', {
        place: { file: folder ?? project },
        hint: 'choose the name of a new folder',
      })
    }
    const sprintDir = await createDemoProject(project)
    const env = values.fast === true ? { ...io.env, RALPH_SCRIPTED_PACE: '0' } : io.env
    const code = await runInTerminal(
      { sprintDir, limits: noLimits, plain: true, ...(values.json === true && { json: true }) },
      { ...io, env },
    )
    if (values.json !== true) for (const line of printDemoHint(project, io)) io.print(line)
    return code
  },
})

const noLimits = { iterations: undefined, usd: undefined, durationMs: undefined }

function printDemoHint(project: string, io: Io): string[] {
  const [agent] = installedAgents(io)
  const folder = displayPath(project, io)
  if (!agent)
    return ['', 'Install Claude Code, Codex or another agent to run this on your own project: ralph run --goal "…"']
  return [
    '',
    `${agent.name} is installed. Run the same sprint with it:`,
    `  cd ${folder} && git checkout . && ralph run --goal "Make all tests pass without changing them" --agent ${agent.name}`,
  ]
}
