import type { Report } from '../form/test-runner.ts'
import { readCtrf } from './ctrf.ts'
import { readJunit } from './junit.ts'
import { readTap } from './tap.ts'
import { readTrx } from './trx.ts'

/** Reads a report of any of the formats that several runners share; the text itself says which. */
export function readNamedReport(text: string, project: string): { format: string; report: Report } {
  const start = text.trimStart()
  if (start.startsWith('{')) return { format: 'ctrf', report: readCtrf(text, project) }
  if (!start.startsWith('<')) return { format: 'tap', report: readTap(text) }
  if (/<TestRun\b/.test(start.slice(0, 1000))) return { format: 'trx', report: readTrx(text) }
  return { format: 'junit', report: readJunit(text, project) }
}
