import { Kbd } from '../ui/badge.tsx'
import { Dialog, DialogBody } from '../ui/dialog.tsx'
import { shortcuts } from './shortcuts.ts'

export const ShortcutsDialog = ({ onClose }: { onClose: () => void }) => (
  <Dialog open onClose={onClose} title="Keyboard" width="sm:max-w-md">
    <DialogBody>
      <dl className="space-y-2">
        {shortcuts.map(({ keys, what }) => (
          <div key={keys} className="flex items-center justify-between gap-6">
            <dt className="text-dim">{what}</dt>
            <dd className="flex gap-1">{keys.split(' ').map((key) => key !== '' && <Kbd key={key}>{key}</Kbd>)}</dd>
          </div>
        ))}
      </dl>
    </DialogBody>
  </Dialog>
)
