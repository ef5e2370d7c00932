import { Toast } from '@base-ui/react/toast'
import { X } from 'lucide-react'
import { classes } from './classes.ts'

const manager = Toast.createToastManager()

/** The result of an action, or why it failed. Errors stay until dismissed. */
export const toast = ({ title, detail, bad = false }: { title: string; detail?: string; bad?: boolean }): void => {
  manager.add({
    title,
    description: detail,
    type: bad ? 'bad' : 'done',
    timeout: bad ? 0 : 4000,
    priority: bad ? 'high' : 'low',
  })
}

export const Toaster = () => (
  <Toast.Provider toastManager={manager}>
    <Toast.Portal>
      <Toast.Viewport className="fixed right-4 bottom-4 z-50 flex w-[min(22rem,calc(100vw-2rem))] flex-col gap-2">
        <Toasts />
      </Toast.Viewport>
    </Toast.Portal>
  </Toast.Provider>
)

function Toasts() {
  const { toasts } = Toast.useToastManager()
  return toasts.map((each) => (
    <Toast.Root
      key={each.id}
      toast={each}
      className="rounded-lg border border-line bg-panel shadow-pop transition-opacity data-ending-style:opacity-0 data-starting-style:opacity-0"
    >
      <Toast.Content className="flex items-start gap-3 py-2.5 pr-2 pl-3.5">
        <span className="min-w-0 flex-1">
          <Toast.Title className={classes('font-medium', each.type === 'bad' && 'text-bad')} />
          <Toast.Description className="text-sm text-dim" />
        </span>
        <Toast.Close aria-label="Dismiss" className="rounded p-1 text-faint hover:bg-sunken">
          <X aria-hidden className="size-3.5" />
        </Toast.Close>
      </Toast.Content>
    </Toast.Root>
  ))
}
