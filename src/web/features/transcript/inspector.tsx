import { useState } from 'react'
import { api, describeError } from '../../data/api.ts'
import { Tag } from '../../ui/badge.tsx'
import { Button, IconButton } from '../../ui/button.tsx'
import { DiffLines, DiffSize } from '../../ui/diff-lines.tsx'
import { PathText } from '../../ui/one-line.tsx'
import { toast } from '../../ui/toast.tsx'
import { classes } from '../../ui/classes.ts'
import { countDiffLines } from '../../words/line-diff.ts'
import { formatBytes } from '../../../words/counts.ts'
import { formatDurationShort } from '../../../words/durations.ts'
import { X } from 'lucide-react'
import { toolCallDiff, shellCommand, exitText, isShell, type ToolCall } from './tool-call.ts'

/** Without a sprint, the rest of a truncated output cannot be loaded. */
type InspectorProps = { readonly sprintId: string | undefined; readonly call: ToolCall; readonly onClose: () => void }

/** A tool's input and output in their own form: a diff, a terminal, or data. */
export function CallInspector({ sprintId, call, onClose }: InspectorProps) {
  const changes = toolCallDiff(call)
  return (
    <>
      <div className="flex min-h-10 items-center gap-2 border-b border-line py-1 pr-1.5 pl-3.5">
        <Tag>{isShell(call.name) ? '$' : call.name}</Tag>
        <PathText text={call.argument ?? ''} className="min-w-0 flex-1" />
        {changes && <DiffSize {...countDiffLines(changes)} />}
        <IconButton label="Close" onClick={onClose}>
          <X aria-hidden className="size-4" />
        </IconButton>
      </div>
      {changes ? <DiffLines lines={changes} /> : <CallInput call={call} />}
      <CallOutput key={call.key} sprintId={sprintId} call={call} quiet={changes !== undefined && call.ok === true} />
    </>
  )
}

const CallInput = ({ call }: { call: ToolCall }) =>
  isShell(call.name) ? (
    <pre className="overflow-x-auto border-b border-line px-3.5 py-2.5 font-mono text-sm break-words whitespace-pre-wrap">
      <span className="text-faint select-none">$ </span>
      {shellCommand(call)}
    </pre>
  ) : (
    <pre className="max-h-60 overflow-auto border-b border-line px-3.5 py-2.5 font-mono text-sm whitespace-pre-wrap text-dim">
      {JSON.stringify(call.input ?? {}, undefined, 2)}
    </pre>
  )

/** Maximum length rendered at once. */
const charactersPerPage = 60_000

function CallOutput({ sprintId, call, quiet }: { sprintId: string | undefined; call: ToolCall; quiet: boolean }) {
  const whole = useWholeOutput(sprintId, call)
  const [shown, setShown] = useState(charactersPerPage)
  if (quiet) return null
  if (call.ok === undefined) return <p className="px-3.5 py-3 text-dim">Still running…</p>
  const ms = (call.endedAt ?? call.startedAt) - call.startedAt
  return (
    <>
      <div className="flex items-center gap-2 border-b border-line px-3.5 py-1.5 text-sm">
        <span className={classes('font-mono', call.ok ? 'text-ok' : 'text-bad')}>
          {isShell(call.name) ? exitText(call) : call.ok ? 'ok' : 'failed'}
        </span>
        <span className="text-faint">{formatDurationShort(ms)}</span>
        {whole.size !== undefined && <span className="ml-auto text-faint">{formatBytes(whole.size)}</span>}
      </div>
      <pre
        tabIndex={0}
        className="max-h-[60vh] overflow-auto px-3.5 py-2.5 font-mono text-sm leading-[1.55] break-words whitespace-pre-wrap"
      >
        {whole.text.slice(0, shown) || <span className="text-faint">no output</span>}
      </pre>
      {call.clippedIn !== undefined && whole.size === undefined && (
        <p className="px-3.5 pb-2 text-sm text-faint">
          The middle was too long to send. The machine has the complete transcript of this attempt.
        </p>
      )}
      <div className="flex gap-2 px-3 pb-2">
        {whole.text.length > shown && (
          <Button size="small" onClick={() => setShown(shown + 10 * charactersPerPage)}>
            Show more
          </Button>
        )}
        {whole.more && (
          <Button size="small" disabled={whole.busy} onClick={() => void whole.load()}>
            {whole.size === undefined ? 'Read it in the raw transcript' : 'Load more'}
          </Button>
        )}
      </div>
    </>
  )
}

/** Long output arrives truncated; the rest is loaded from the machine in parts, on request. */
function useWholeOutput(sprintId: string | undefined, call: ToolCall) {
  const [parts, setParts] = useState<{ text: string; next: number | undefined; size: number } | undefined>()
  const [busy, setBusy] = useState(false)
  const load = async (): Promise<void> => {
    if (call.clippedIn === undefined || sprintId === undefined) return
    setBusy(true)
    try {
      const part = await api.readOutput({ sprintId, eventId: call.clippedIn, offset: parts?.next ?? 0 })
      setParts({ text: (parts?.text ?? '') + part.text, next: part.next, size: part.size })
    } catch (error) {
      toast({ ...describeError(error), bad: true })
    } finally {
      setBusy(false)
    }
  }
  const more =
    sprintId !== undefined && call.clippedIn !== undefined && (parts === undefined || parts.next !== undefined)
  return { text: parts?.text ?? call.output ?? '', size: parts?.size, more, busy, load }
}
