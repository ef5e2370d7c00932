import { spawn, spawnSync } from 'node:child_process'
import { projects } from '../projects/index.mjs'

const probes = { pytest: 'python3 -m pytest --version', bwrap: 'command -v bwrap' }
const answers = new Map()

/** The first tool that a case needs and this machine lacks. */
export function missingTool(entry) {
  return [...projects[entry.project].needs, ...(entry.needs ?? [])].find((tool) => !hasTool(tool))
}

export function hasTool(tool) {
  if (!answers.has(tool)) answers.set(tool, spawnSync('sh', ['-c', probes[tool] ?? `command -v ${tool}`]).status === 0)
  return answers.get(tool)
}

/** Resolves with exit code and output; what takes longer than two minutes is ended. A child that stays behind holds nothing up. */
export function runProgram(program, args, options) {
  return new Promise((resolve) => {
    const child = spawn(program, args, {
      ...options,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 120_000,
      killSignal: 'SIGKILL',
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => (output += part))
    child.on('error', (error) => resolve({ status: 127, output: error.message }))
    child.on('exit', (status) => setTimeout(() => resolve({ status, output }), 10))
  })
}
