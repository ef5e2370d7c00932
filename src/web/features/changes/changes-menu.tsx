import { Ellipsis } from 'lucide-react'
import type { FleetSprint, SprintDiff } from '../../../contract/fleet/sprint.ts'
import { saveOrToast } from '../../data/save-file.ts'
import { describePullRequest } from '../../../words/pull-request.ts'
import { Menu } from '../../ui/menu.tsx'
import { toast } from '../../ui/toast.tsx'
import type { CheckpointRange } from './changes.tsx'
import { createPatch, isCompletePatch } from './patch.ts'

type ChangesMenuProps = { readonly sprint: FleetSprint; readonly diff: SprintDiff; readonly range: CheckpointRange }

/** Takes the changes elsewhere: as a patch, or as the text of a pull request with its evidence. */
export function ChangesMenu({ sprint, diff, range }: ChangesMenuProps) {
  const { sprintId } = sprint.progress
  const savePatch = (): void =>
    void saveOrToast(async () => ({
      name: `${sprintId}-${range.from ?? 0}-${range.to ?? 'now'}.patch`,
      type: 'text/x-diff',
      content: createPatch(diff),
    }))
  const copyText = async (): Promise<void> => {
    await navigator.clipboard.writeText(describePullRequest(sprint.progress, diff.files))
    toast({ title: 'Text for a pull request copied' })
  }
  return (
    <Menu
      size="icon"
      label="More about these changes"
      entries={[
        {
          label: 'Download as a patch',
          hint: isCompletePatch(diff) ? 'For git apply' : 'Without binary and very long files',
          onChoose: savePatch,
        },
        {
          label: 'Copy text for a pull request',
          hint: 'With what was proved, and by which tests',
          onChoose: () => void copyText(),
        },
      ]}
    >
      <Ellipsis aria-hidden className="size-4" />
    </Menu>
  )
}
