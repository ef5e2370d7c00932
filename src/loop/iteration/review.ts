import { z } from 'zod'
import type { Progress } from '../../contract/progress.ts'
import { clipText, promptLimits, toOneLine, quoteFenced } from '../core/prompt-sections.ts'
import { createEchoTest, listFencedBlocks } from '../core/read-report.ts'

const Review = z.object({ verdict: z.enum(['pass', 'fail']), summary: z.string() })

/** Asks the reviewer to verify the claim itself. */
export const buildReviewPrompt = (progress: Progress, claim: string): string => `# Ralph: review

Another agent says that this goal is reached. Find out whether that is true. Look at the project as it is now, run what you
need, and judge every criterion of the goal. Do not change anything.

## Goal

${describePurpose(progress)}

## What the other agent says

${quoteFenced(claim.trim())}

## Verdict

End your final message with exactly one fenced JSON block of this form and nothing after it:

\`\`\`json
{"verdict": "<pass | fail>", "summary": "<which criteria are met and which are not, and how you know>"}
\`\`\`
`

/** The goal, and for a sprint with phases the list of what they ask for. */
function describePurpose({ goal, phases = [] }: Progress): string {
  const asked = phases.flatMap(({ id, prompt, steps = [] }) => [
    ...(prompt === undefined ? [] : [`- ${id}: ${toOneLine(prompt)}`]),
    ...steps.map((step) => `- ${id}, ${step.id}: ${toOneLine(step.prompt)}`),
  ])
  const listed = clipText(asked.join('\n'), promptLimits.listCharacters)
  return [goal.trim(), listed].filter((text) => text !== '').join('\n\nWhat was asked for, in order:\n\n')
}

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
