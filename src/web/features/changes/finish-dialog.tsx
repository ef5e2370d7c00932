import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import type { FinishableRepository, FinishPlan, FleetSprint } from '../../../contract/fleet/sprint.ts'
import { describeCommit } from '../../../words/commit-message.ts'
import { pluralize } from '../../../words/counts.ts'
import {
  describeBranch,
  describeFinishNotes,
  describeNewCommit,
  describeNothingToCommit,
  listSomeNames,
} from '../../../words/finish-notes.ts'
import { api, describeError } from '../../data/api.ts'
import { finishQuery } from '../../data/queries.ts'
import { useAction } from '../../data/use-action.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogBody, DialogFoot } from '../../ui/dialog.tsx'
import { DiffSize } from '../../ui/diff-lines.tsx'
import { Textarea, TextInput } from '../../ui/field.tsx'
import { ProblemNotice, Skeleton } from '../../ui/states.tsx'

type FinishDialogProps = { readonly sprint: FleetSprint; readonly onClose: () => void }

/** Commits the work of a sprint on its machine, as `ralph finish` does: nothing else, and no file changes. */
export function FinishDialog({ sprint, onClose }: FinishDialogProps) {
  const plan = useQuery(finishQuery(sprint.id))
  return (
    <Dialog
      open
      onClose={onClose}
      title="Commit the work of this sprint"
      description="The commit contains what the sprint changed and nothing else. Files stay as they are; no git hook runs."
      width="sm:max-w-2xl"
    >
      {plan.isLoadingError && (
        <DialogBody>
          <ProblemNotice {...describeError(plan.error)} onRetry={() => void plan.refetch()} />
        </DialogBody>
      )}
      {plan.isPending && (
        <DialogBody>
          <Skeleton className="h-40" />
        </DialogBody>
      )}
      {plan.data && <FinishForm sprint={sprint} plan={plan.data} onClose={onClose} />}
    </Dialog>
  )
}

function FinishForm({ sprint, plan, onClose }: FinishDialogProps & { readonly plan: FinishPlan }) {
  const [branch, setBranch] = useState('')
  const [message, setMessage] = useState(() => describeCommit(sprint.progress).trimEnd())
  const todo = plan.repositories.filter(({ files }) => files.length > 0)
  const current = todo.map((repository) => describeBranch(repository.branch)).join(', ')
  const needsBranch = todo.some(({ conflicts }) => conflicts.length > 0)
  const finish = useAction(api.finishSprint, {
    successToast: ({ commits }) =>
      commits.length === 0
        ? 'Nothing to commit'
        : commits.map(({ commit, branch: on }) => capitalize(describeNewCommit(commit, on))).join('; '),
    onDone: onClose,
  })
  const name = branch.trim()
  const ready = todo.length > 0 && message.trim() !== '' && !finish.busy && (name !== '' || !needsBranch)
  const run = (): void =>
    finish.run({ sprintId: sprint.id, message: `${message.trim()}\n`, ...(name !== '' && { branch: name }) })
  return (
    <>
      <DialogBody>
        {plan.repositories.map((repository) => (
          <RepositoryPlan key={repository.root} repository={repository} />
        ))}
        {todo.length > 0 && (
          <>
            <Textarea
              label="Commit message"
              rows={9}
              value={message}
              onChange={(event) => setMessage(event.target.value)}
            />
            <TextInput
              label="New branch"
              value={branch}
              placeholder={needsBranch ? 'Required here' : `Empty: commit on ${current}`}
              hint="A new branch is not checked out. Push it with git push origin NAME."
              onChange={(event) => setBranch(event.target.value)}
            />
          </>
        )}
      </DialogBody>
      <DialogFoot>
        <Button onClick={onClose}>Cancel</Button>
        <Button kind="primary" disabled={!ready} onClick={run}>
          {finish.busy ? 'Committing…' : `Commit on ${name === '' ? current : name}`}
        </Button>
      </DialogFoot>
    </>
  )
}

function RepositoryPlan({ repository }: { repository: FinishableRepository }) {
  const { root, files, moreFiles } = repository
  const branch = describeBranch(repository.branch)
  const notes = describeFinishNotes(repository)
  if (files.length === 0)
    return <p className="text-dim">{capitalize(describeNothingToCommit(`${branch} in ${root}`))}.</p>
  return (
    <section aria-label={`Files for ${branch}`} className="rounded-md border border-line">
      <h3 className="border-b border-line px-3 py-1.5 text-sm">
        <span className="font-medium">{pluralize(files.length + moreFiles, 'file')}</span> for{' '}
        <span className="font-medium">{branch}</span> in <span className="font-mono break-all">{root}</span>
      </h3>
      <ul className="max-h-44 overflow-y-auto py-1">
        {files.map(({ path, added, removed }) => (
          <li key={path} className="flex gap-2 px-3 py-0.5 font-mono text-sm">
            <span className="min-w-0 flex-1 truncate">{path}</span>
            <DiffSize added={added} removed={removed} />
          </li>
        ))}
        {moreFiles > 0 && <li className="px-3 py-0.5 text-sm text-faint">and {moreFiles} more</li>}
      </ul>
      {notes.map(({ text, names }) => (
        <p key={text} className="border-t border-line px-3 py-1.5 text-sm text-warn">
          {capitalize(text)}: <span className="font-mono">{listSomeNames(names)}</span>
        </p>
      ))}
    </section>
  )
}

const capitalize = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)
