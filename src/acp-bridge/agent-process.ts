import { Readable, Writable } from 'node:stream'
import { ndJsonStream, type Stream } from '@agentclientprotocol/sdk'
import { type PipedProcess, startPipedProcess } from '../platform/processes/piped-process.ts'

export type AgentProcess = Pick<PipedProcess, 'exited' | 'end'> & { readonly stream: Stream }

/** Rejects with ENOENT or EACCES if the program cannot be started. */
export async function startAgent(
  [program, ...args]: readonly [string, ...string[]],
  cwd: string,
): Promise<AgentProcess> {
  const { stdin, stdout, exited, end } = await startPipedProcess(program, args, cwd)
  return { stream: ndJsonStream(Writable.toWeb(stdin), Readable.toWeb(stdout)), exited, end }
}
