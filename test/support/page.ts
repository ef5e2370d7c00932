import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { root } from './paths.ts'

/** Builds the page as it is served; fast if nothing has changed. */
export function buildPage(): void {
  const { status, stderr } = spawnSync(process.execPath, [join(root, 'scripts/build-page.mjs')], {
    cwd: root,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(`the page cannot be built:\n${stderr}`)
}

const axe = readFileSync(join(root, 'node_modules/axe-core/axe.min.js'), 'utf8')

type Violation = {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string }[]
}

/** Serious or critical findings of axe on the current page, with the first place of each. `rules`: only these; default: all. */
export async function seriousIssues(page: Page, rules: readonly string[] = []): Promise<string[]> {
  // Text has little contrast while it fades in or out.
  await page.emulateMedia({ reducedMotion: 'reduce' })
  await page.locator('[data-starting-style], [data-ending-style]').first().waitFor({ state: 'detached' })
  await page.evaluate(axe)
  const violations = await page.evaluate<Violation[]>(
    `axe.run(document, { resultTypes: ['violations']${rules.length > 0 ? `, runOnly: ${JSON.stringify(rules)}` : ''} }).then(({ violations }) => violations.map(({ id, impact, nodes }) => ({ id, impact, nodes: nodes.map(({ html }) => ({ html })) })))`,
  )
  await page.emulateMedia({ reducedMotion: null })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ id, nodes }) => `${id} (${nodes.length}): ${nodes[0]?.html.slice(0, 200) ?? ''}`)
}
