import { bundledProgram } from '../../platform/package-root.ts'
import { readClaude } from './claude.ts'
import type { Driver } from './driver.ts'

const scriptedAgentProgram = bundledProgram('scripted-agent/main.js')

/** Our own agent for demos and tests: plays a scenario file and prints the stream of Claude Code. */
export const scripted: Driver = {
  name: 'scripted',
  program: process.execPath,
  env: ['RALPH_SCRIPTED_PACE'],
  command: ({ sprintDir }) => ({
    file: process.execPath,
    args: [scriptedAgentProgram, '--scenario', `${sprintDir}/SCENARIO.yaml`],
  }),
  read: () => {
    const reader = readClaude()
    return { ...reader, finish: (exit) => ({ ...reader.finish(exit), resumable: false }) }
  },
}
