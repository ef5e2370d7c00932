import { type ReactNode, useState } from 'react'
import type { SprintQuestion } from '../../../contract/fleet/question.ts'
import { api } from '../../data/api.ts'
import { useNow } from '../../ui/now.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { classes } from '../../ui/classes.ts'
import { DiffLines } from '../../ui/diff-lines.tsx'
import { Textarea } from '../../ui/field.tsx'
import { MarkdownText } from '../../ui/markdown.tsx'
import { formatAge } from '../../../words/durations.ts'
import { parsePatchLines } from '../../words/line-diff.ts'

type QuestionCardProps = {
  readonly question: SprintQuestion
  readonly mayAnswer: boolean
  readonly children?: ReactNode
  /** Removes it from the list without an answer. */
  readonly onDismiss?: (() => void) | undefined
  readonly focused?: boolean
}

/** The question in one sentence, and its answers as buttons. */
export function QuestionCard({ question, mayAnswer, children, onDismiss, focused = false }: QuestionCardProps) {
  const now = useNow()
  const [other, setOther] = useState(question.options === undefined || question.options.length === 0)
  const answer = useAction(api.answerSprint, { successToast: 'Answered; the sprint resumes' })
  const { details, patch } = splitDetails(question.details)
  const give = (text: string): void =>
    answer.run({ sprintId: question.sprintId, questionId: question.id, answer: text })
  return (
    <section
      aria-label="Open question"
      className={classes(
        'mb-3.5 rounded-[10px] border border-warn-fill/60 bg-warn-bg px-4 py-3',
        focused && 'outline-2 outline-offset-2 outline-accent',
      )}
    >
      <div className="flex items-start gap-4 max-md:flex-col">
        <div className="min-w-0 flex-1 max-md:self-stretch">
          {children}
          <h2 className="font-semibold">{question.reason}</h2>
          {details !== '' && (
            <div className="text-dim">
              <MarkdownText text={details} />
            </div>
          )}
          {patch !== '' && <TestChanges patch={patch} />}
          <p className="text-dim">
            {answerConsequence(question)} Waiting {formatAge(now - question.askedAt)}.
          </p>
        </div>
        {mayAnswer && (
          <div className="flex flex-wrap gap-2 self-center max-md:self-stretch">
            {(question.options ?? []).map((option) => (
              <Button
                key={option}
                kind={option === question.default ? 'primary' : 'plain'}
                disabled={answer.busy}
                onClick={() => give(option)}
              >
                {option}
              </Button>
            ))}
            {!other && <Button onClick={() => setOther(true)}>Other…</Button>}
            {onDismiss && (
              <Button kind="ghost" onClick={onDismiss} title="Removes it from the list; the sprint does not change">
                Dismiss
              </Button>
            )}
          </div>
        )}
      </div>
      {mayAnswer && other && <OwnAnswer busy={answer.busy} onGive={give} />}
    </section>
  )
}

function TestChanges({ patch }: { patch: string }) {
  return (
    <details open className="my-2 overflow-hidden rounded-md border border-line bg-panel">
      <summary className="px-3 py-1.5 text-sm">What the agent changed in the tests</summary>
      <div className="max-h-80 overflow-y-auto border-t border-line">
        <DiffLines lines={parsePatchLines(patch)} />
      </div>
    </details>
  )
}

/** A question about a contested claim ends with a patch of the tests. */
function splitDetails(text: string): { readonly details: string; readonly patch: string } {
  const at = text.search(/^diff --git /m)
  return at === -1 ? { details: text, patch: '' } : { details: text.slice(0, at).trim(), patch: text.slice(at) }
}

const answerConsequence = ({ iteration }: SprintQuestion): string =>
  iteration === undefined ? 'Answering resumes the sprint.' : `Answering resumes with iteration ${iteration + 1}.`

function OwnAnswer({ busy, onGive }: { busy: boolean; onGive: (text: string) => void }) {
  const [text, setText] = useState('')
  const ready = text.trim() !== '' && !busy
  return (
    <div className="mt-3 flex items-end gap-2">
      <Textarea
        label="Your answer"
        hideLabel
        placeholder="Type your own answer"
        rows={2}
        value={text}
        className="flex-1"
        onChange={(event) => setText(event.target.value)}
        onKeyDown={(event) => {
          if (event.key === 'Enter' && (event.metaKey || event.ctrlKey) && ready) onGive(text)
        }}
      />
      <Button kind="primary" disabled={!ready} onClick={() => onGive(text)}>
        Answer
      </Button>
    </div>
  )
}
