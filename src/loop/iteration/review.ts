import { z } from 'zod'
import { quoteFenced } from '../core/prompt-sections.ts'
import { createEchoTest, listFencedBlocks } from '../core/read-report.ts'
import type { Sprint } from '../core/sprint.ts'
import { getWay } from '../ways/registry.ts'

const Review = z.object({ verdict: z.enum(['pass', 'fail']), summary: z.string() })

/** Asks the reviewer to verify the claim itself. */
export const buildReviewPrompt = (
  sprint: Sprint,
  claim: string,
  survivors: readonly string[] = [],
): string => `# Ralph: review

Another agent says that this goal is reached. Find out whether that is true. Look at the project as it is now, run what you
need, and judge every criterion of the goal. Do not change anything.

## Goal

${getWay(sprint).purpose(sprint)}

## What the other agent says

${quoteFenced(claim.trim())}
${describeSurvivors(survivors)}
## Verdict

End your final message with exactly one fenced JSON block of this form and nothing after it:

\`\`\`json
{"verdict": "<pass | fail>", "summary": "<which criteria are met and which are not, and how you know>"}
\`\`\`
`

const describeSurvivors = (survivors: readonly string[]): string =>
  survivors.length === 0
    ? ''
    : `
## What no test notices

Ralph made small changes of the new code, one at a time, and the tests passed all the same. Look closely at these places. Do not
name them in your verdict: an agent would write a test for each line and nothing else.

${quoteFenced(survivors.join('\n'))}
`

/** Anything but a clear pass counts as a fail. Text that occurs in the prompt is an echo, not a verdict. */
export function readReview(finalMessage: string, prompt = ''): { readonly passed: boolean; readonly summary: string } {
  const isEcho = createEchoTest(prompt)
  for (const block of listFencedBlocks(finalMessage).toReversed()) {
    if (isEcho(block)) continue
    try {
      const parsed = Review.safeParse(JSON.parse(block))
      if (parsed.success) return { passed: parsed.data.verdict === 'pass', summary: parsed.data.summary }
    } catch {
      continue
    }
  }
  return { passed: false, summary: 'the reviewer gave no verdict' }
}
