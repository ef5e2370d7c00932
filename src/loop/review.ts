import { z } from 'zod'
import type { Progress } from '../contract/progress.ts'
import { quoted } from './prompt-sections.ts'
import { echoOf, fencedBlocks } from './read-report.ts'

const Review = z.object({ verdict: z.enum(['pass', 'fail']), summary: z.string() })

/** What the second agent is asked: to look for itself, not to believe. */
export const buildReviewPrompt = ({ goal }: Progress, claim: string): string => `# Ralph: review

Another agent says that this goal is reached. Find out whether that is true. Look at the project as it is now, run what you
need, and judge every criterion of the goal. Do not change anything.

## Goal

${goal.trim()}

## What the other agent says

${quoted(claim.trim())}

## Verdict

End your final message with exactly one fenced JSON block of this form and nothing after it:

\`\`\`json
{"verdict": "<pass | fail>", "summary": "<which criteria are met and which are not, and how you know>"}
\`\`\`
`

/** A reviewer who does not say clearly that it passes has not passed it. What stands in the prompt is an echo, no verdict. */
export function readReview(finalMessage: string, prompt = ''): { readonly passed: boolean; readonly summary: string } {
  const isEcho = echoOf(prompt)
  for (const block of fencedBlocks(finalMessage).toReversed()) {
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
