import { Bell, BellOff } from 'lucide-react'
import { useState } from 'react'
import { askForNotifications, canNotify, dropNotifications, wantsNotifications } from '../../data/notifications.ts'
import { Button } from '../../ui/button.tsx'

/** Browser notifications, on request only. */
export function NotifyMe() {
  const [on, setOn] = useState(wantsNotifications)
  if (!canNotify()) return null
  const toggle = async (): Promise<void> => {
    if (on) dropNotifications()
    setOn(on ? false : await askForNotifications())
  }
  const Icon = on ? Bell : BellOff
  return (
    <Button onClick={() => void toggle()} aria-pressed={on}>
      <Icon aria-hidden className="size-3.5" /> {on ? 'This browser notifies you' : 'Notify me in this browser'}
    </Button>
  )
}
