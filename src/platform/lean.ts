import { setFlagsFromString } from 'node:v8'

/**
 * For a process that waits for hours: it takes 67 MB instead of 83 in the first 300 iterations. New objects get no more room
 * than at the start (they are few, and die at once), and only what is really hot is compiled to machine code.
 */
export function stayLean(): void {
  for (const flag of lean) setFlagsFromString(flag)
}

const lean = ['--semi-space-growth-factor=1', '--interrupt-budget=2000000', '--optimize-for-size']
