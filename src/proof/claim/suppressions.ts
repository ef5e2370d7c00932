import type { SourceChange, SourceText } from '../frozen/compose.ts'
import type { JudgedCheck, Session } from './prove.ts'
import { runCheck } from './run-check.ts'

/** Comments and attributes that switch the findings of a compiler or linter off for a whole file. */
const inFiles: readonly RegExp[] = [
  /@ts-nocheck\b/g,
  /\b(?:es|ox|style)lint-disable\b(?!-)/g,
  /\b(?:biome-ignore-all|deno-lint-ignore-file)\b/g,
  /#\s*(?:mypy:\s*(?:ignore-errors|disable-error-code)|pyright:\s*(?:basic|ignore\b)|pylint:\s*skip-file|(?:ruff|flake8):\s*noqa|type:\s*ignore\s*$)/g,
  /#!\[\s*(?:cfg_attr\([^\]]*)?(?:allow|expect)\b[^\]]*\]/g,
  /#\s*pragma\s+(?:(?:GCC|clang)\s+(?:diagnostic\s+ignored|system_header)|warning\s*\(?\s*disable)\b.*/g,
  /\bnolint:file\b|@file:Suppress(?:Warnings)?\b.*/g,
]

/** The same for a line or a declaration. */
const inLines: readonly RegExp[] = [
  /@ts-(?:ignore|expect-error)\b/g,
  /\b(?:es|ox|style)lint-disable-(?:next-)?line\b|\b(?:biome-ignore|deno-lint-ignore)\b(?!-)|\bprettier-ignore\b/g,
  /#\s*(?:type:\s*ignore|pyright:\s*ignore|pyre-ignore|noqa|nosec|pylint:\s*disable|pragma:\s*no\s*cover)\b/gi,
  /#\[\s*(?:allow|expect)\b[^\]]*\]/g,
  /@(?:Suppress|SuppressWarnings|SuppressLint)\b(?:\([^)]*\))?/g,
  /\/\/\s*(?:nolint|NOLINT(?:NEXTLINE|BEGIN)?)\b|#nosec\b/g,
  /\b(?:rubocop|shellcheck):?\s*(?:disable|todo)\b|@?phpcs:(?:disable|ignore)\b|@phpstan-ignore\S*|@psalm-suppress\b/g,
  /\b(?:istanbul|c8|v8)\s+ignore\b/g,
]

/**
 * New lines of the work without which a check is red: they switch findings off instead of mending them, `file:line`. A check whose
 * tests have names is measured by them; there only what covers whole files of the start counts.
 */
export async function findSuppressions(session: Session, now: readonly JudgedCheck[]): Promise<readonly string[]> {
  const suspects = now.filter(({ check, record }) => record.place === 'room' && check.heldOut === undefined)
  if (suspects.length === 0) return []
  const sources = await session.claim.readSources()
  const everywhere = readSuppressions(sources, 'everywhere')
  const wide = readSuppressions(
    sources.filter(({ before }) => before !== ''),
    'in-files',
  )
  for (const judged of suspects) {
    const isMeasured = judged.record.passed || judged.judged.tests !== undefined
    const { lines, texts } = isMeasured ? wide : everywhere
    if (lines.length > 0 && (await isRedWith(session, judged, texts))) return lines
  }
  return []
}

type Suppressions = { readonly lines: readonly string[]; readonly texts: readonly SourceText[] }

/** The new ones, and the files without them: every other line stays where it is. */
export function readSuppressions(sources: readonly SourceChange[], scope: 'in-files' | 'everywhere'): Suppressions {
  const patterns = scope === 'in-files' ? inFiles : [...inFiles, ...inLines]
  const lines: string[] = []
  const texts: SourceText[] = []
  for (const { path, before, after } of sources) {
    const known = countLines(before)
    const kept = after.split('\n').map((line, at) => {
      const stripped = patterns.reduce((text, pattern) => text.replaceAll(pattern, ''), line)
      if (stripped === line || takeLine(known, line)) return line
      lines.push(`${path}:${at + 1}`)
      return stripped
    })
    const text = kept.join('\n')
    if (text !== after) texts.push({ path, text })
  }
  return { lines, texts }
}

function countLines(text: string): Map<string, number> {
  const counts = new Map<string, number>()
  for (const line of text.split('\n')) counts.set(line.trim(), (counts.get(line.trim()) ?? 0) + 1)
  return counts
}

function takeLine(counts: Map<string, number>, line: string): boolean {
  const left = counts.get(line.trim()) ?? 0
  counts.set(line.trim(), left - 1)
  return left > 0
}

async function isRedWith(session: Session, judged: JudgedCheck, texts: readonly SourceText[]): Promise<boolean> {
  const { place, dependencies, signal, claim } = session
  const tree = await claim.replaceIn(claim.newOnNew, texts)
  const { exitCode, killed } = await runCheck(place, { check: judged.check, tree, dependencies, signal })
  return exitCode !== 0 && killed === undefined
}
