import { relative } from 'node:path'
import { BaseSequencer, type TestSpecification } from 'vitest/node'
import { root } from './paths.ts'

/** The files that take longest, longest first. A file that is missing here only starts later; one that is gone is ignored. */
const slowest = [
  'test/sandbox/escapes.test.ts',
  'src/proof/claim/prove.test.ts',
  'test/sandbox/cell-settings.test.ts',
  'test/web/bad-input.test.ts',
  'test/agents/claude.test.ts',
  'src/proof/claim/open-proof.test.ts',
  'test/fleet/api.test.ts',
  'test/cheats.test.ts',
  'test/e2e/first-hour.test.ts',
  'test/agents/codex.test.ts',
  'test/guide/forms.test.ts',
  'test/e2e/checks.test.ts',
  'test/web/served-pages.test.ts',
  'test/e2e/command-line.test.ts',
  'test/web/docs-site.test.ts',
  'test/e2e/finish.test.ts',
  'test/agents/plugin.test.ts',
  'src/storage/git/restore-sequences.test.ts',
  'test/conformance.test.ts',
  'src/backend/machines/takeover.test.ts',
  'test/e2e/faults.test.ts',
  'test/fleet/under-fire.test.ts',
  'test/e2e/checkpoint-safety.test.ts',
  'test/e2e/standard.test.ts',
  'test/web/every-page.test.ts',
  'test/fleet/api-guards.test.ts',
  'test/sandbox/sandbox.test.ts',
  'test/web/connection.test.ts',
  'test/web/page.test.ts',
  'test/chaos/disk-full.test.ts',
  'test/fleet/backup.test.ts',
  'src/storage/git/checkpoint-store.test.ts',
  'test/e2e/checkpoints.test.ts',
  'src/backend/engine/open-engine.test.ts',
  'src/backend/prompts/prompts.test.ts',
  'src/backend/database/open-database.test.ts',
  'src/proof/claim/kept-files.test.ts',
  'src/storage/git/workspace.test.ts',
  'src/proof/tests/read-test-run.test.ts',
  'src/proof/claim/checker-run.test.ts',
  'src/scripted-agent/main.test.ts',
  'src/proof/room/room.test.ts',
  'src/agents-server/agents-server.test.ts',
  'src/proof/claim/bad-input.test.ts',
  'src/storage/git/prune-checkpoints.test.ts',
  'src/backend/sprints/ralph-mode.test.ts',
]

/**
 * Starts the slowest files of both projects first, so that no worker has one left at the end while the others are idle. The other files of
 * `unit` are last and together, because a worker is shared only between neighbours.
 */
export class SlowestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    // oxlint-disable-next-line unicorn/no-array-sort -- the method of a sequencer, not of an array
    const sorted = await super.sort(files)
    return sorted.toSorted((one, other) => rank(one) - rank(other))
  }
}

function rank({ moduleId, project }: TestSpecification): number {
  const place = slowest.indexOf(relative(root, moduleId))
  if (place >= 0) return place
  return slowest.length + (project.name === 'unit' ? 1 : 0)
}
