import { Dialog as Base } from '@base-ui/react/dialog'
import { X } from 'lucide-react'
import type { ReactNode } from 'react'
import { IconButton } from './button.tsx'
import { classes } from './classes.ts'

type DialogProps = {
  readonly open: boolean
  readonly onClose: () => void
  readonly title: string
  readonly description?: ReactNode
  readonly width?: string
  readonly children: ReactNode
}

/** Full screen on a phone. */
export const Dialog = ({ open, onClose, title, description, width = 'sm:max-w-lg', children }: DialogProps) => (
  <Base.Root open={open} onOpenChange={(next) => !next && onClose()}>
    <Base.Portal>
      <Base.Backdrop className="fixed inset-0 z-40 bg-[rgb(0_0_0/35%)] transition-opacity duration-150 data-ending-style:opacity-0 data-starting-style:opacity-0" />
      <Base.Popup
        className={classes(
          'fixed z-40 flex flex-col border-line bg-panel shadow-pop outline-none',
          'inset-0 sm:inset-x-4 sm:top-[6vh] sm:bottom-auto sm:mx-auto sm:max-h-[88vh] sm:rounded-xl sm:border',
          'transition-[opacity,translate] duration-150 data-ending-style:opacity-0 data-starting-style:translate-y-1 data-starting-style:opacity-0',
          width,
        )}
      >
        <div className="flex items-start gap-3 border-b border-line px-5 py-3.5">
          <div className="min-w-0 flex-1">
            <Base.Title className="text-lg font-semibold tracking-tight">{title}</Base.Title>
            {description !== undefined && (
              <Base.Description render={<div />} className="text-dim">
                {description}
              </Base.Description>
            )}
          </div>
          <IconButton label="Close" onClick={onClose}>
            <X aria-hidden className="size-4" />
          </IconButton>
        </div>
        {children}
      </Base.Popup>
    </Base.Portal>
  </Base.Root>
)

export const DialogBody = ({ children }: { children: ReactNode }) => (
  <div className="min-h-0 flex-1 space-y-4 overflow-y-auto px-5 py-4">{children}</div>
)

export const DialogFoot = ({ children }: { children: ReactNode }) => (
  <div className="flex flex-wrap items-center justify-end gap-2 border-t border-line px-5 py-3">{children}</div>
)
